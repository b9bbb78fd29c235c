import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Api } from '../../support/service/call-api.ts';
import { commandsBeside } from '../../support/documents/operations-commands.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type ComposeStage, healthy, services, startInstallation } from './compose-stage.ts';
import { skipWithoutDocker } from './docker.ts';
import { follow, say } from './documented-steps.ts';
import { acceptedTask, assertVideo, taskIn } from './outside-client.ts';

// docker-compose.yml as it is, run by a container engine, with the commands of docs/operations as they are written there.

describe('the compose file', { skip: skipWithoutDocker }, () => {
  let stage: ComposeStage;
  let api: Api;
  before(async () => {
    stage = await startInstallation();
    ({ api } = stage);
  });
  after(() => stage?.close());

  test('is refused without one of its secrets', async () => {
    await stage.run('docker compose config --quiet');
    for (const name of ['POSTGRES_PASSWORD', 'VIDEOGEN_DB_PASSWORD', 'TEMPORAL_DB_PASSWORD', 'VIDEOGEN_SECRET'])
      await assert.rejects(
        stage.run(`${name}= docker compose config --quiet`),
        new RegExp(`${name} is missing a value`),
      );
  });

  test('is started as in install.md: every service is healthy, and a video is made and downloaded from outside', async () => {
    const [link = '', doctor = ''] = commandsBeside('cp .env.example .env').slice(4);
    assert.ok((await stage.run(link)).includes(`${stage.baseUrl}/console/`));
    await follow(stage, 'doctor', [doctor]);
    await follow(
      stage,
      'doctor of each',
      commandsBeside('docker compose exec api videogen doctor --role api').slice(1),
    );
    await healthy(stage);
    await assertVideo(api, await acceptedTask(api));
    assert.equal((await fetch(stage.uiUrl)).status, 200);
    say(await stage.run(`docker stats --no-stream --format '{{.Name}}: {{.MemUsage}}'`));
  });

  test('has the network from which install.md reads the address of a proxy', async () => {
    const page = readFileSync('docs/operations/install.md', 'utf8');
    const [, command = ''] = /`(docker network inspect [^`]+)`/.exec(page) ?? [];
    assert.match(await stage.run(command), /^\d+\.\d+\.\d+\.\d+\n$/);
  });

  test('is restarted, and each of its services is killed while tasks run: every accepted task ends, and the books are right', async () => {
    const taskIds: string[] = [];
    for (const [service, user] of Object.entries(services)) {
      const id = (await stage.run(`docker compose ps --quiet ${service}`)).trim();
      const restarts = () => stage.run(`docker inspect --format '{{.RestartCount}}' ${id}`);
      const crash = async () => {
        const known = await restarts();
        const asUser = user === '' ? '' : `--user ${user} `;
        // The program is the only child of Docker's init. Its end also ends this command.
        await stage.run(
          `docker compose exec ${asUser}${service} sh -c 'kill -9 $(cat /proc/1/task/1/children)' || true`,
        );
        await waitFor(`Docker to restart ${service}`, async () => (await restarts()) !== known);
      };
      for (const interrupt of [() => stage.run(`docker compose restart ${service}`), crash]) {
        const running = [await acceptedTask(api), await acceptedTask(api)];
        taskIds.push(...running);
        await taskIn(api, running[0] ?? '', ['generating', 'success', 'fail']);
        await interrupt();
        await healthy(stage);
      }
    }
    const ended = await Promise.all(taskIds.map((taskId) => taskIn(api, taskId, ['success', 'fail'])));
    const states = ended.map(({ state }) => state);
    say(`${states.filter((state) => state === 'success').length} of ${states.length} tasks succeeded`);
    assert.match(await stage.run('docker compose exec api videogen audit'), /./);
    await assertVideo(api, await acceptedTask(api));
  });
});
