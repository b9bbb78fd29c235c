import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Api, call } from '../../support/service/call-api.ts';
import { documentedRecipes } from '../../support/documents/documented-examples.ts';
import { commandsBeside } from '../../support/documents/operations-commands.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type ComposeStage, healthy, startInstallation } from './compose-stage.ts';
import { skipWithoutDocker } from './docker.ts';
import { follow } from './documented-steps.ts';
import { acceptedTask, assertVideo, taskIn } from './outside-client.ts';

// Recipes of docs/operations for an installation by the compose file, as they are written there.

const model = 'videogen-2.0-fast';

describe('an installation by the compose file', { skip: skipWithoutDocker }, () => {
  let stage: ComposeStage;
  let api: Api;
  before(async () => {
    stage = await startInstallation();
    ({ api } = stage);
  });
  after(() => stage?.close());

  test('is backed up and restored as in backup.md', async () => {
    const known = await acceptedTask(api);
    await taskIn(api, known, ['success']);
    const [backUp = ''] = commandsBeside('docker compose exec -T postgres pg_dump');
    await follow(stage, 'backup', [backUp]);
    const unknown = await acceptedTask(api);
    await follow(stage, 'restore', commandsBeside('docker compose exec -T postgres pg_restore'));
    await healthy(stage);
    await assertVideo(api, known);
    assert.equal((await call(api, `/api/v1/jobs/recordInfo?taskId=${unknown}`)).status, 404);
    assert.match(await stage.run('docker compose exec api videogen audit'), /./);
    await assertVideo(api, await acceptedTask(api));
  });

  test('gets another password of its database as in access.md', async () => {
    const [alter = '', up = ''] = commandsBeside('docker compose exec postgres psql --username=postgres');
    const password = 'another0password0of0the0database';
    await stage.run(alter.replace('NEW', password));
    await stage.setVariable('VIDEOGEN_DB_PASSWORD', password);
    await follow(stage, 'another password', [up]);
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
    const values: Readonly<Record<string, string>> = {
      OLD: old,
      NEW: 'another0secret0of0the0tests0that0is0long0enough',
    };
    for (const [, current = '', previous = ''] of steps) {
      await stage.setVariable('VIDEOGEN_SECRET', values[current] ?? '');
      await stage.setVariable('VIDEOGEN_SECRET_PREVIOUS', values[previous] ?? '');
      await follow(stage, 'a step of the rotation', [up]);
      await assertVideo(api, task);
    }
    await stage.run('docker compose exec api videogen secret reencrypt');
  });

  test('loads a catalogue with the key of its provider, and mounts another file, as in install.md', async () => {
    const page = readFileSync('docs/operations/install.md', 'utf8');
    const [, override = ''] = /`docker-compose\.override\.yml`:\n\n```yaml\n(.*?)^```$/ms.exec(page) ?? [];
    await writeFile(join(stage.folder, 'docker-compose.override.yml'), override);
    await writeFile(join(stage.folder, 'smtp-url'), 'smtp://mail.example.com:587');
    const [recipe] = documentedRecipes('docs/providers/ark.md');
    await writeFile(join(stage.folder, 'catalogue/catalogue.yaml'), recipe?.text ?? assert.fail('no recipe'));
    // The recipe sells reference media, which Ark fetches from here.
    await stage.setVariable('PUBLIC_URL', 'https://video.example.com');
    const lines = commandsBeside("echo 'VIDEOGEN_MODELS=").map((line) => line.replace('…', 'a-key-of-the-test'));
    await follow(stage, 'a catalogue', lines);
    const offered = (name: string) =>
      waitFor(`the model ${name}`, async () => {
        const answer = await call(api, '/api/v1/models').catch(() => undefined);
        return answer?.status === 200 && JSON.stringify(answer.body.data).includes(`"${name}"`);
      });
    assert.match(await stage.run('docker compose exec api sh -c \'cat "$SMTP_URL_FILE"\''), /^smtp:/);
    // A model is offered once a worker has loaded it, which rejects a catalogue whose keys it lacks.
    await offered('seedance-2');
    const next = join(stage.folder, 'catalogue/next.yaml');
    await writeFile(next, `models: [{ model: ${model}, title: Replaced, prices: [{ creditsPerSecond: 1 }] }]\n`);
    await stage.run('mv catalogue/next.yaml catalogue/catalogue.yaml');
    await offered('Replaced');
  });
});
