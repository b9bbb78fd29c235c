import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import type { Api } from '../../support/service/call-api.ts';
import { commandsBeside } from '../../support/documents/operations-commands.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type ClusterStage, installInCluster, skipWithoutCluster, tags } from './cluster-stage.ts';
import { follow } from '../compose/documented-steps.ts';
import { acceptedTask, assertVideo, taskIn } from '../compose/outside-client.ts';

const chartValues = z.looseObject({ settings: z.looseObject({}) });

// Recipes of docs/operations for an installation by the chart, as they are written there.

describe('an installation by the chart', { skip: skipWithoutCluster }, () => {
  let stage: ClusterStage;
  let api: Api;
  before(async () => {
    stage = await installInCluster();
    ({ api } = stage);
  });
  after(() => stage?.close());

  const [upgrade = ''] = commandsBeside('helm upgrade videogen', 'upgrade.md');
  const kubectl = (command: string) => stage.run(`kubectl --namespace videogen ${command}`);
  /** No task ends until the next upgrade starts the pods again. */
  const withoutGeneration = async () => {
    await kubectl('scale deploy/videogen-worker-generation --replicas=0');
    await kubectl('wait pods --for=delete --selector app.kubernetes.io/component=worker-generation --timeout=2m');
  };

  test('an invalid catalogue and a missing Secret stop an upgrade with their reason before any pod changes', async () => {
    const file = join(dirname(stage.valuesFile), 'catalogue.yaml');
    await writeFile(file, 'models: [{ model: x }]\n');
    const objects = async () => {
      const listed = await kubectl('get pods,jobs,configmaps,secrets --output name');
      return listed.replaceAll(/^secret\/sh\.helm\..*\n/gm, '');
    };
    const earlier = await objects();
    const invalid = `${upgrade} --set-file catalogue.content='${file}'`;
    await assert.rejects(follow(stage, 'refusal of a catalogue', [invalid]), /models\[0\]\.title: is required/);
    const missing = `${upgrade} --set catalogue.existingSecret=missing`;
    await assert.rejects(stage.run(missing), /the namespace videogen has no Secret missing/);
    assert.equal(await objects(), earlier);
    await assertVideo(api, await acceptedTask(api));
  });

  test('runs workers of two versions as in upgrade.md: a task stays with the version that started it', async () => {
    const [, makeCurrent = '', describeVersions = ''] = commandsBeside('WORKER_VERSION=NEW');
    // Temporal accepts a version once a worker of it has polled.
    const becomeCurrent = (version: string) =>
      waitFor(`version ${version}`, () =>
        stage.run(`${makeCurrent.replace('NEW', version)} --yes`).then(
          () => true,
          () => delay(500, undefined),
        ),
      );
    const versionOf = async (taskId: string) => {
      const shown = await stage.run(
        `temporal workflow show --namespace videogen --workflow-id ${taskId} --output json`,
      );
      return [...new Set([...shown.matchAll(/"buildId": "(.+)"/g)].map(([, version]) => version))];
    };
    await follow(stage, 'the first version', [`${upgrade} --set settings.WORKER_VERSION=v1`]);
    await becomeCurrent('v1');
    await withoutGeneration();
    const began = await acceptedTask(api);
    await waitFor('its workflow to begin', async () => (await versionOf(began).catch(() => [])).length > 0);

    const page = readFileSync('docs/operations/upgrade.md', 'utf8');
    const [, text = ''] = /^```yaml\n(# my-values\.yaml, beside .*?)^```$/ms.exec(page) ?? [];
    const versionsFile = join(dirname(stage.valuesFile), 'versions.yaml');
    const filledIn = {
      'registry.example.com': 'localhost',
      'tag: NEW': `tag: ${tags.next}`,
      'tag: OLD': `tag: ${tags.first}`,
      NEW: 'v2',
      OLD: 'v1',
    };
    await writeFile(
      versionsFile,
      Object.entries(filledIn).reduce((all, [written, value]) => all.replace(written, value), text),
    );
    const both = `${upgrade} --values '${versionsFile}'`;
    await follow(stage, 'the second version', [`${both} --set workers.old.resources.requests.cpu=120m`]);
    await becomeCurrent('v2');
    const beganLater = await acceptedTask(api);
    for (const taskId of [began, beganLater]) await assertVideo(api, taskId);
    assert.deepEqual([await versionOf(began), await versionOf(beganLater)], [['v1'], ['v2']]);
    const isDrained = async () => /v1 +drained/.test(await stage.run(describeVersions));
    await waitFor('the old version to be drained', async () => (await isDrained()) || delay(500, undefined));
    await follow(stage, 'removal of the old version', [`${both} --set workers.old=null`]);
    assert.doesNotMatch(await kubectl('get deployments --output name'), /worker-old/);
    await assertVideo(api, await acceptedTask(api));
    // The values of an installation name the version that is current, so the next upgrades keep it.
    const { settings, ...others } = chartValues.parse(JSON.parse(await readFile(stage.valuesFile, 'utf8')));
    await writeFile(stage.valuesFile, JSON.stringify({ ...others, settings: { ...settings, WORKER_VERSION: 'v2' } }));
  });

  test('is stopped for a restore as in backup.md: unfinished tasks are refunded, and the books are right', async () => {
    await withoutGeneration();
    const taskIds = [await acceptedTask(api), await acceptedTask(api)];
    const lines = commandsBeside('kubectl --namespace videogen exec deploy/videogen-maintenance -- videogen migrate');
    const isReconcile = (line: string) => line.includes('reconcile --restored');
    const repeated = lines.flatMap((line) => (isReconcile(line) ? [line, line] : [line]));
    assert.equal(repeated.length, lines.length + 1);
    const printed = await follow(stage, 'the maintenance of backup.md', repeated);
    assert.match(printed, /Restored: 0 unfinished tasks refunded, 0 outdated workflows terminated/);
    for (const taskId of taskIds) {
      const { state, failCode } = await taskIn(api, taskId, ['success', 'fail']);
      assert.deepEqual([state, failCode], ['fail', 'terminated']);
    }
    assert.deepEqual(await auditLedger(stage.database.db), []);
    await assertVideo(api, await acceptedTask(api));
  });

  test('is uninstalled as in install.md, and nothing remains', async () => {
    const [uninstall = '', ...others] = commandsBeside('helm uninstall videogen');
    await follow(stage, 'uninstall', [uninstall]);
    const kinds = 'all,secrets,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,persistentvolumeclaims';
    const left = `get ${kinds} --selector app.kubernetes.io/instance=videogen --output name`;
    await waitFor('nothing to remain', async () => (await kubectl(left)) === '' || delay(500, undefined));
    const schedules = () => stage.run('temporal schedule list --namespace videogen');
    assert.match(await schedules(), /videogen-/);
    await stage.run(others.join('\n'));
    assert.doesNotMatch(await schedules(), /videogen-/);
    assert.doesNotMatch(await stage.run('kubectl get namespaces --output name'), /videogen/);
  });
});
