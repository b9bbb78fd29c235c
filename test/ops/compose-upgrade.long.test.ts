import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Api } from '../support/api.ts';
import { commandsBeside } from '../support/page-commands.ts';
import { acceptedTask, assertVideo, type ComposeStage, createComposeStage, healthy, newApi } from './compose-stage.ts';
import { type Docker, openDocker, skipWithoutDocker } from './docker.ts';

/** The release from which the installation is upgraded. */
const old = '7c0a96a5';
const hasOld = spawnSync('git', ['cat-file', '-e', `${old}^{commit}`], { stdio: 'ignore' }).status === 0;
const skip = skipWithoutDocker || (!hasOld && `git has no commit ${old} here`);

describe('an installation by the compose file', { skip }, () => {
  let docker: Docker;
  let first: ComposeStage;
  let second: ComposeStage;
  let api: Api;
  const [, up = ''] = commandsBeside('cp OLD/.env .');
  before(async () => {
    docker = await openDocker();
    first = await createComposeStage(docker, old);
    second = await first.nextCheckout();
    await first.run(up);
    api = await newApi(first);
  });
  after(async () => {
    try {
      await first?.close();
    } finally {
      await docker?.close();
    }
    if (second !== undefined) await rm(second.folder, { recursive: true });
  });

  test('is upgraded as in upgrade.md while tasks wait: they end, and earlier videos stay', async () => {
    const done = await acceptedTask(api);
    await assertVideo(api, done);
    await first.run('docker compose stop worker');
    const waiting = [await acceptedTask(api), await acceptedTask(api)];

    for (const line of commandsBeside('cp OLD/.env .')) await second.run(line.replaceAll('OLD', first.folder));
    await healthy(second);
    for (const taskId of [done, ...waiting]) await assertVideo(api, taskId);
    await second.run('docker compose exec api videogen audit');
  });

  test('goes back to the earlier release as in upgrade.md', async () => {
    const waiting = await acceptedTask(api);
    for (const line of commandsBeside('docker compose build')) await first.run(line);
    await healthy(first);
    for (const taskId of [waiting, await acceptedTask(api)]) await assertVideo(api, taskId);
    await first.run('docker compose exec api videogen audit');
  });
});
