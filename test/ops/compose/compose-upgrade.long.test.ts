import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import type { Api } from '../../support/service/call-api.ts';
import { commandsBeside } from '../../support/documents/operations-commands.ts';
import { type Checkout, type ComposeStage, healthy, startInstallation } from './compose-stage.ts';
import { skipWithoutDocker } from './docker.ts';
import { follow } from './documented-steps.ts';
import { acceptedTask, assertVideo } from './outside-client.ts';

/** The release from which the installation is upgraded. */
const old = '7c0a96a5';
const hasOld = spawnSync('git', ['cat-file', '-e', `${old}^{commit}`], { stdio: 'ignore' }).status === 0;
const skip = skipWithoutDocker || (!hasOld && `git has no commit ${old} here`);

describe('an installation by the compose file', { skip }, () => {
  let first: ComposeStage;
  let second: Checkout;
  let api: Api;
  before(async () => {
    first = await startInstallation(old);
    second = await first.nextCheckout();
    ({ api } = first);
  });
  after(() => first?.close());

  test('is upgraded as in upgrade.md while tasks wait: they end, and earlier videos stay', async () => {
    const done = await acceptedTask(api);
    await assertVideo(api, done);
    await first.run('docker compose stop worker');
    const waiting = [await acceptedTask(api), await acceptedTask(api)];

    const lines = commandsBeside('cp OLD/.env .').map((line) => line.replaceAll('OLD', first.folder));
    await follow(second, 'upgrade', lines);
    await healthy(second);
    for (const taskId of [done, ...waiting]) await assertVideo(api, taskId);
    await second.run('docker compose exec api videogen audit');
  });

  test('goes back to the earlier release as in upgrade.md', async () => {
    const waiting = await acceptedTask(api);
    await follow(first, 'the way back', commandsBeside('docker compose build'));
    await healthy(first);
    for (const taskId of [waiting, await acceptedTask(api)]) await assertVideo(api, taskId);
    await first.run('docker compose exec api videogen audit');
  });
});
