import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, createdTask, createTask, recordInfo, resultUrlsIn, waitForRecord } from '../support/api.ts';
import { commandsBeside } from '../support/page-commands.ts';
import { waitFor } from '../support/wait-for.ts';
import { skipsWithoutS3 } from '../support/s3-server.ts';
import { type ClusterStage, createClusterStage, images, skipWithoutArchive } from './cluster-stage.ts';
import { skipWithoutKubernetes } from './kubernetes.ts';

// The chart as it is, in a cluster of one node, with the commands of docs/operations as they are written there.

const upgrade =
  'helm upgrade videogen ops/helm/videogen --namespace videogen --values my-values.yaml --wait --timeout 20m';

describe('the chart in a cluster', { skip: skipWithoutKubernetes || skipsWithoutS3 || skipWithoutArchive }, () => {
  let stage: ClusterStage;
  let api: Api;
  before(async () => {
    stage = await createClusterStage();
  });
  after(() => stage?.close());

  /** Runs the lines of a page, and prints how long they took. */
  const follow = async (what: string, lines: readonly string[]) => {
    const startedAt = performance.now();
    const printed: string[] = [];
    for (const line of lines) printed.push(await stage.run(line));
    say(`${what}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
    return printed;
  };
  const kubectl = (command: string) => stage.run(`kubectl --namespace videogen ${command}`);
  const assertVideo = async (taskId: string) => {
    const record = await waitForRecord(api, taskId);
    assert.equal(record['state'], 'success', JSON.stringify(record));
    const video = await fetch(resultUrlsIn(record)[0] ?? assert.fail('no link'));
    assert.deepEqual([video.status, video.headers.get('content-type')], [200, 'video/mp4']);
    assert.ok((await video.arrayBuffer()).byteLength > 100_000);
  };
  const generating = async () => {
    const taskId = await createdTask(api, 'a lighthouse in a storm');
    await waitFor('a generation', async () =>
      (await recordInfo(api, taskId)).body.data['state'] === 'generating' ? true : delay(300, undefined),
    );
    return taskId;
  };

  test('is installed as in install.md, and a video is made and downloaded from outside', async () => {
    await follow('install.md, "On Kubernetes"', commandsBeside('kubectl create namespace videogen'));
    const [account = '', key = '', link = '', doctor = ''] = commandsBeside(
      'kubectl --namespace videogen exec deploy/videogen-worker-tasks -- videogen doctor',
    );
    const accountId = /[\da-f]{8}-[\da-f-]{27}/.exec(await stage.run(account))?.[0] ?? assert.fail('no account');
    const created = /vg_\w+/.exec(await stage.run(key.replace('ACCOUNT', accountId)));
    api = { baseUrl: stage.baseUrl, key: created?.[0] ?? assert.fail('no key') };
    assert.ok((await stage.run(link)).includes(`${stage.baseUrl}/console/`));
    await stage.run(doctor);
    await assertVideo(await createdTask(api, 'a paper boat'));
  });

  test('pods of every kind run without rights, and nothing of the migration is left', async () => {
    assert.equal(await kubectl('get jobs --output name'), '');
    await kubectl('label namespace videogen pod-security.kubernetes.io/enforce=restricted');
    assert.match(await kubectl('exec deploy/videogen-api -- id -u'), /^1000\n$/);
  });

  test('is scaled, and every task of a deleted pod ends in success', async () => {
    await follow('scaling', [`${upgrade} --set workers.generation.replicas=2`]);
    const taskIds = [await generating(), await createdTask(api, 'a second one')];
    const pods = 'delete pod --wait=false --selector';
    await kubectl(`${pods} app.kubernetes.io/component=worker-generation`);
    await kubectl(`${pods} app.kubernetes.io/component=worker-tasks`);
    for (const taskId of taskIds) await assertVideo(taskId);
  });

  test('is upgraded while clients create tasks, and no request fails', async () => {
    const stopping = new AbortController();
    const taskIds: string[] = [];
    const creating = (async () => {
      while (!stopping.signal.aborted) {
        const request = { model: 'videogen-2.0-fast', input: { prompt: 'a trickle', duration: 4 } };
        const { status, body } = await createTask(api, request);
        assert.equal(status, 200, body.msg);
        taskIds.push(String(body.data['taskId']));
        await delay(5_000);
      }
    })();
    await Promise.race([follow('upgrade', [`${upgrade} --set image.tag=${images.next}`]), creating]);
    stopping.abort();
    await creating;
    assert.match(await kubectl('get pods --output yaml'), new RegExp(`localhost/videogen:${images.next}`));
    for (const taskId of taskIds) assert.equal((await waitForRecord(api, taskId))['state'], 'success', taskId);
    const [, back = ''] = commandsBeside('helm history videogen');
    await follow('rollback', [back]);
    assert.doesNotMatch(
      await kubectl('get deployments --output yaml'),
      new RegExp(`localhost/videogen:${images.next}`),
    );
  });
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
