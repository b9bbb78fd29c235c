import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import { createLog } from '../../../src/platform/log/log.ts';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { openStore } from '../../../src/media/store/open-store.ts';
import { startApi } from '../../../src/run/main/start-api.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { call } from '../../support/service/call-api.ts';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

const [oldSecret, newSecret] = ['o'.repeat(40), 'n'.repeat(40)];

test('VIDEOGEN_SECRET is changed as docs/operations/access.md describes: no link ends, no callback secret is lost, until the last step', async () => {
  const environment = await createTestEnvironment({ VIDEOGEN_SECRET: oldSecret });
  const { settings, database } = environment;
  const log = createLog({ level: 'silent' });
  const having = async (secret: string, ...secretPrevious: string[]): Promise<CompleteSettings> => {
    const port = await reserveFreePort();
    return { ...settings, secret, secretPrevious, port, publicUrl: `http://127.0.0.1:${port}` };
  };
  const linkOf = async (process: CompleteSettings) =>
    (await openStore(process, log, { writes: true })).link('results/0193/video.mp4');
  /** The status that the API process with these settings returns for a link that another one has made. */
  const statusAt = async (process: CompleteSettings, link: string) => {
    const { pathname, search } = new URL(link);
    return (await fetch(process.publicUrl + pathname + search)).status;
  };
  const secretsAt = (...secrets: [string, ...string[]]) =>
    ensureSigningSecrets(database.db, createSecretBox(secrets[0], secrets.slice(1)), accountId);
  const { accountId, key } = await createTestAccount(database);
  const path = join(tmpdir(), 'videogen-rotation.mp4');
  await writeFile(path, 'a video');
  await (await openStore(settings, log, { writes: true })).put('results/0193/video.mp4', path);
  const before = await having(oldSecret);
  const [one, two, three] = [
    await having(oldSecret, newSecret),
    await having(newSecret, oldSecret),
    await having(newSecret),
  ];
  const apis = [];
  try {
    for (const each of [before, one, two, three]) apis.push(await startApi(each, log));
    const oldLink = await linkOf(before);
    const api = { baseUrl: before.publicUrl, key };
    const shown = await call(api, '/api/v1/callbacks/secret', { method: 'POST' });
    const secret = String(shown.body.data['secret']);
    assert.match(secret, /^whsec_/);

    // Step 1, beside processes of before; step 2, beside those of step 1.
    const [linkOfOne, linkOfTwo] = [await linkOf(one), await linkOf(two)];
    for (const [process, link] of [
      [before, linkOfOne],
      [one, oldLink],
      [one, linkOfTwo],
      [two, linkOfOne],
      [two, oldLink],
    ] as const)
      assert.equal(await statusAt(process, link), 200);
    assert.deepEqual(await secretsAt(oldSecret, newSecret), [secret]);
    assert.deepEqual(await secretsAt(newSecret, oldSecret), [secret]);

    const env = { ...environment.environment, VIDEOGEN_SECRET: newSecret, VIDEOGEN_SECRET_PREVIOUS: oldSecret };
    const reencrypt = () => videogen(env, 'secret', 'reencrypt', '--json');
    const first = await reencrypt();
    assert.deepEqual([first.code, JSON.parse(first.stdout)], [0, { moved: 1, current: 0, unopened: [] }], first.stderr);
    const again = await reencrypt();
    assert.deepEqual(JSON.parse(again.stdout), { moved: 0, current: 1, unopened: [] });
    assert.deepEqual(await secretsAt(oldSecret, newSecret), [secret], 'processes of step 1 still read it');

    assert.deepEqual(await secretsAt(newSecret), [secret]);
    assert.equal(await statusAt(three, linkOfTwo), 200);
    assert.equal(await statusAt(three, oldLink), 403);
  } finally {
    for (const api of apis) await api.close();
    await environment.close();
  }
});
