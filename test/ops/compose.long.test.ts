import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Api, call } from '../support/api.ts';
import { documentedRecipes } from '../support/documented-recipes.ts';
import { commandsBeside } from '../support/page-commands.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  acceptedTask,
  assertVideo,
  type ComposeStage,
  createComposeStage,
  healthy,
  newApi,
  services,
  taskIn,
} from './compose-stage.ts';
import { type Docker, openDocker, skipWithoutDocker } from './docker.ts';

// docker-compose.yml as it is, run by a container engine, with the commands of docs/operations as they are written there.

const model = 'videogen-2.0-fast';

describe('the compose file', { skip: skipWithoutDocker }, () => {
  let docker: Docker;
  let stage: ComposeStage;
  let api: Api;
  const install = commandsBeside('cp .env.example .env');
  before(async () => {
    docker = await openDocker();
    stage = await createComposeStage(docker);
    await follow('up, with the build of the image', [install[1] ?? '']);
    api = await newApi(stage);
  });
  after(async () => {
    try {
      await stage?.close();
    } finally {
      await docker?.close();
    }
  });

  /** Runs the lines of a page, and prints how long they took. */
  const follow = async (what: string, lines: readonly string[]) => {
    const startedAt = performance.now();
    for (const line of lines) await stage.run(line);
    say(`${what}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  };
  const audit = () => stage.run('docker compose exec api videogen audit');

  test('is refused without one of its secrets', async () => {
    await stage.run('docker compose config --quiet');
    for (const name of ['POSTGRES_PASSWORD', 'VIDEOGEN_DB_PASSWORD', 'TEMPORAL_DB_PASSWORD', 'VIDEOGEN_SECRET'])
      await assert.rejects(
        stage.run(`${name}= docker compose config --quiet`),
        new RegExp(`${name} is missing a value`),
      );
  });

  test('is started as in install.md: every service is healthy, and a video is made and downloaded from outside', async () => {
    const [link = '', doctor = ''] = install.slice(4);
    assert.ok((await stage.run(link)).includes(`${stage.baseUrl}/console/`));
    await follow('doctor', [doctor]);
    await follow('doctor of each', commandsBeside('docker compose exec api videogen doctor --role api').slice(1));
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
        const before = await restarts();
        const asUser = user === '' ? '' : `--user ${user} `;
        // The program is the only child of Docker's init. Its end also ends this command.
        await stage.run(
          `docker compose exec ${asUser}${service} sh -c 'kill -9 $(cat /proc/1/task/1/children)' || true`,
        );
        await waitFor(`Docker to restart ${service}`, async () => (await restarts()) !== before);
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
    assert.match(await audit(), /./);
    await assertVideo(api, await acceptedTask(api));
  });

  test('is backed up and restored as in backup.md', async () => {
    const known = await acceptedTask(api);
    await taskIn(api, known, ['success']);
    const [backUp = ''] = commandsBeside('docker compose exec -T postgres pg_dump');
    await follow('backup', [backUp]);
    const unknown = await acceptedTask(api);
    await follow('restore', commandsBeside('docker compose exec -T postgres pg_restore'));
    await healthy(stage);
    await assertVideo(api, known);
    assert.equal((await call(api, `/api/v1/jobs/recordInfo?taskId=${unknown}`)).status, 404);
    assert.match(await audit(), /./);
    await assertVideo(api, await acceptedTask(api));
  });

  test('gets another password of its database as in access.md', async () => {
    const [alter = '', up = ''] = commandsBeside('docker compose exec postgres psql --username=postgres');
    const password = 'another0password0of0the0database';
    await stage.run(alter.replace('NEW', password));
    await stage.setVariable('VIDEOGEN_DB_PASSWORD', password);
    await follow('another password', [up]);
    await healthy(stage);
    await assertVideo(api, await acceptedTask(api));
  });

  test('gets another VIDEOGEN_SECRET as in access.md: earlier links work meanwhile', async () => {
    const task = await acceptedTask(api);
    await taskIn(api, task, ['success']);
    const page = readFileSync('docs/operations/access.md', 'utf8');
    const [, up = ''] = /With the compose file, change `\.env` and run `([^`]+)`/.exec(page) ?? [];
    const old = /^VIDEOGEN_SECRET=(.+)$/m.exec(await stage.run('grep ^VIDEOGEN_SECRET= .env | tail -1'))?.[1] ?? '';
    const steps = [...page.matchAll(/^\d\. `VIDEOGEN_SECRET=(\w+) VIDEOGEN_SECRET_PREVIOUS=(\w+)`/gm)];
    assert.equal(steps.length, 2);
    const values: Readonly<Record<string, string>> = { OLD: old, NEW: 'another secret of the tests, long enough' };
    for (const [, current = '', previous = ''] of steps) {
      await stage.setVariable('VIDEOGEN_SECRET', values[current] ?? '');
      await stage.setVariable('VIDEOGEN_SECRET_PREVIOUS', values[previous] ?? '');
      await follow('a step of the rotation', [up]);
      await assertVideo(api, task);
    }
    await stage.run('docker compose exec api videogen secret reencrypt');
  });

  test('loads a catalogue with the key of its provider as in install.md', async () => {
    const [recipe] = documentedRecipes('docs/providers/ark.md');
    await writeFile(join(stage.folder, 'catalogue/catalogue.yaml'), recipe?.text ?? assert.fail('no recipe'));
    await follow('a catalogue', commandsBeside("echo 'VIDEOGEN_MODELS="));
    const offered = (name: string) =>
      waitFor(`the model ${name}`, async () => {
        const answer = await call(api, '/api/v1/models').catch(() => undefined);
        return answer?.status === 200 && JSON.stringify(answer.body.data).includes(`"${name}"`);
      });
    // A model is offered once a worker has loaded it, which rejects a catalogue whose keys it lacks.
    await offered('seedance-2');
    const next = join(stage.folder, 'catalogue/next.yaml');
    await writeFile(next, `models: [{ model: ${model}, title: Replaced, prices: [{ creditsPerSecond: 1 }] }]\n`);
    await stage.run('mv catalogue/next.yaml catalogue/catalogue.yaml');
    await offered('Replaced');
  });
});

function say(text: string): void {
  for (const line of text.trim().split('\n')) process.stdout.write(`# ${line}\n`);
}
