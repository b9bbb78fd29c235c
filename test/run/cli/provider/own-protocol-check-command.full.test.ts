import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Finding } from '../../../../src/providers/own/conformance-rules-and-verdicts.ts';
import { type Break, startProtocolServer } from '../../../fakes/own-protocol-server.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';

const key = 'the-key-of-the-server';

async function checked(t: TestContext, args: readonly string[], broken?: Break) {
  const server = await startProtocolServer({ key, ...(broken && { broken }) });
  t.after(() => server.close());
  const env = { ...process.env, SCRIPT_KEY: key };
  return await videogen(env, 'provider', 'check', `http://${server.address}/`, ...args);
}

test('provider check shows every rule, and what the video is; no database is used', async (t) => {
  const { code, stdout, stderr } = await checked(t, ['--key-env', 'SCRIPT_KEY']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^pass {5}key-missing: a request without the key is answered 401\n/);
  assert.match(stdout, /^pass {5}video-plays: .*\n {9}1280×720, 4\.0 s, 24 fps, with sound, delivered as it is\n/m);
  assert.match(stdout, /^skipped {2}restart: restart the server, then check it again with --job [0-9a-f-]{36}\n/m);
  assert.match(stdout, /\n30 rules passed, 0 failed, 1 skipped\n$/);
  assert.match(stderr, /^job [0-9a-f-]{36}: running 40 %$/m);
  assert.doesNotMatch(stdout + stderr, new RegExp(key));
});

test('a broken rule is reported with the expected and the received value, and the exit code is 1', async (t) => {
  const text: Break = (asked, tell) => {
    const told = tell();
    return asked.isVideo && Buffer.isBuffer(told.body) ? { ...told, body: Buffer.alloc(told.body.length, 'x') } : told;
  };
  const folder = await mkdtemp(join(tmpdir(), 'videogen-check-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'key'), `${key}\n`);
  const { code, stdout, stderr } = await checked(t, ['--key-file', join(folder, 'key'), '--json'], text);
  assert.equal(code, 1);
  const { ok, rules } = JSON.parse(stdout) as { ok: boolean; rules: readonly Finding[] }; // its answer
  assert.equal(ok, false);
  assert.deepEqual(
    rules.filter(({ outcome }) => outcome === 'fail'),
    [
      {
        rule: 'video-plays',
        outcome: 'fail',
        expected: 'the video can be read by ffmpeg and be delivered',
        came: 'the file is in no known container',
      },
    ],
  );
  assert.match(stderr, /does not conform to the protocol\n$/);
});

test('a server that requires a key is not checked without one: nothing is broken', async (t) => {
  const { code, stdout, stderr } = await checked(t, []);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^http:\/\/127\.0\.0\.1:\d+ requires a key; pass it with --key-env NAME or --key-file PATH$/m);
});

test('an unreachable server and an invalid address are reported', async () => {
  const unreachable = await videogen(process.env, 'provider', 'check', 'http://127.0.0.1:1');
  assert.equal(unreachable.code, 1);
  assert.match(unreachable.stderr, /^http:\/\/127\.0\.0\.1:1 cannot be reached: /);
  const invalid = await videogen(process.env, 'provider', 'check', 'ftp://example.com');
  assert.equal(invalid.code, 2);
  assert.match(invalid.stderr, /It must be an http or https URL/);
  const unset = await videogen(process.env, 'provider', 'check', 'http://127.0.0.1:1', '--key-env', 'NO_SUCH_KEY');
  assert.equal(unset.code, 1);
  assert.match(unset.stderr, /is not set/);
});
