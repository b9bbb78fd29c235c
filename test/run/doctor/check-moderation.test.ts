import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { checkModeration } from '../../../src/run/doctor/check-moderation.ts';
import { type ModerationHook, startModerationHook } from '../../fakes/moderation-hook.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let hook: ModerationHook;
before(async () => {
  hook = await startModerationHook();
});
after(() => hook.close());

const linesFor = async (environment: NodeJS.ProcessEnv, isApi = true) => {
  const findings = await checkModeration(readConfig(environment), { isApi });
  return findings.map(
    ({ state, message, remedy }) => `${state}: ${message}${remedy === undefined ? '' : ` → ${remedy}`}`,
  );
};

test('doctor has each moderation hook check a harmless prompt, and explains a hook that gives no answer', async () => {
  const environment = { MODERATION_URL: hook.openai, MODERATION_KEY: 'the-key' };
  const [line, ...more] = await linesFor(environment);
  assert.match(line ?? '', /^ok: \S+: the hook answers$/);
  assert.deepEqual(more, [], 'all models share the hook of the installation');
  const [request] = hook.received;
  assert.equal(request?.headers.authorization, 'Bearer the-key');
  hook.answerWith((response) => response.writeHead(401).end('{}'));
  assert.match(
    (await linesFor(environment))[0] ?? '',
    /^error: \S+: answer: status 401 → Check address, key and shape/,
  );
  hook.answerWith((response) => response.end('{"results":[{"flagged":true}]}'));
  assert.match(
    (await linesFor(environment))[0] ?? '',
    /^warning: \S+: the hook refuses a harmless prompt as unspecified/,
  );
  hook.answerWith();
  // A hook that accepts content without an answer is broken all the same. Port 1 of this machine refuses connections.
  const open = { MODERATION_URL: 'http://127.0.0.1:1/', MODERATION_ON_ERROR: 'allow' };
  assert.match((await linesFor(open))[0] ?? '', /^error: \S+: \w+: .*ECONNREFUSED/);
});

test('an installation without hooks is not checked', async () => {
  assert.deepEqual(await linesFor({}), []);
});

test('each hook is checked once, and its key may be missing except beside an API', async (t) => {
  const path = join(await temporaryFolder(t), 'catalogue.json');
  const sold = { title: 'M', prices: [{ creditsPerSecond: 7 }], providers: ['preview'] };
  const own = { shape: 'openai', url: hook.openai, key: { env: 'A_KEY_OF_NO_PROCESS' } };
  const models = [
    { ...sold, model: 'a', moderation: own },
    { ...sold, model: 'b', moderation: own },
    { ...sold, model: 'c' },
    { ...sold, model: 'd', moderation: { shape: 'none' } },
  ];
  writeFileSync(path, JSON.stringify({ models }));
  const environment = { MODERATION_URL: hook.openai, MODERATION_KEY: 'the-key', VIDEOGEN_MODELS: path };
  const states = async (isApi: boolean) =>
    (await linesFor(environment, isApi)).map((line) => /^\w+: \w+/.exec(line)?.[0]);
  assert.deepEqual(
    [await states(true), await states(false)],
    [
      ['error: b', 'ok: c'],
      ['unknown: b', 'ok: c'],
    ],
  );
});
