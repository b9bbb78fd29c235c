import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Api, createTask } from '../../support/service/call-api.ts';
import { commandsBeside } from '../../support/documents/operations-commands.ts';
import { type ClusterStage, installInCluster, skipWithoutCluster, tags } from './cluster-stage.ts';
import { follow } from '../compose/documented-steps.ts';
import { acceptedTask, assertVideo, taskIn } from '../compose/outside-client.ts';

// The chart as it is, in a cluster of one node, with the commands of docs/operations as they are written there.

describe('the chart in a cluster', { skip: skipWithoutCluster }, () => {
  let stage: ClusterStage;
  let api: Api;
  before(async () => {
    stage = await installInCluster();
    ({ api } = stage);
  });
  after(() => stage?.close());

  const [upgrade = ''] = commandsBeside('helm upgrade videogen', 'upgrade.md');
  const kubectl = (command: string) => stage.run(`kubectl --namespace videogen ${command}`);

  test('is installed as in install.md, and a video is made and downloaded from outside', async () => {
    await assertVideo(api, await acceptedTask(api));
  });

  test('pods of every kind run without rights, and nothing of the migration is left', async () => {
    assert.equal(await kubectl('get jobs --output name'), '');
    const label = 'label namespace videogen pod-security.kubernetes.io/enforce=restricted';
    assert.doesNotMatch(await kubectl(`${label} 2>&1`), /violate/);
    assert.match(await kubectl('exec deploy/videogen-api -- id -u'), /^1000\n$/);
  });

  test('is scaled, and every task of a deleted pod ends in success', async () => {
    await follow(stage, 'scaling', [`${upgrade} --set workers.generation.replicas=2`]);
    const taskIds = [await acceptedTask(api), await acceptedTask(api)];
    await taskIn(api, taskIds[0] ?? '', ['generating', 'success', 'fail']);
    const pods = 'delete pod --wait=false --selector';
    await kubectl(`${pods} app.kubernetes.io/component=worker-generation`);
    await kubectl(`${pods} app.kubernetes.io/component=worker-tasks`);
    for (const taskId of taskIds) await assertVideo(api, taskId);
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
    const images = () => kubectl('get deployments --output jsonpath={..image}');
    await Promise.race([follow(stage, 'upgrade', [`${upgrade} --set image.tag=${tags.next}`]), creating]);
    stopping.abort();
    await creating;
    assert.doesNotMatch(await images(), new RegExp(`:${tags.first}`));
    for (const taskId of taskIds) await assertVideo(api, taskId);
    const [, back = ''] = commandsBeside('helm history videogen');
    await follow(stage, 'rollback', [back]);
    assert.doesNotMatch(await images(), new RegExp(`:${tags.next}`));
  });
});
