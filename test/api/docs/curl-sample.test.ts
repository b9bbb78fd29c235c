import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { curlSample } from '../../../src/api/docs/samples/curl-sample.ts';
import type { ExampleRequest } from '../../../src/api/docs/samples/example-request.ts';

const plain: ExampleRequest = {
  method: 'GET',
  baseUrl: 'https://video.example',
  path: '/api/v1/credits',
  headers: {},
  credential: 'none',
  body: undefined,
  answer: 'json',
};

/** The arguments that a shell passes to curl. */
function argumentsOf(change: Partial<ExampleRequest>): readonly string[] {
  const script = String.raw`curl() { printf '%s\0' "$@"; }` + `\n${curlSample({ ...plain, ...change })}`;
  const env = {
    ...process.env,
    VIDEOGEN_API_KEY: 'vg_1',
    VIDEOGEN_OPERATOR_KEY: 'vgop_1',
    VIDEOGEN_COOKIE: 'session=1',
  };
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1);
}

const hostile = `it's "$HOME" \`id\` \\ 'twice'`;

test('a shell passes on quotes, dollars and backslashes as they stand in URL, headers and body', () => {
  assert.deepEqual(argumentsOf({ path: `/a?b=${hostile}` }), [`https://video.example/a?b=${hostile}`]);
  assert.deepEqual(argumentsOf({ headers: { 'X-Name': hostile } }).slice(1), ['-H', `X-Name: ${hostile}`]);
  for (const prompt of [hostile, hostile.repeat(10)]) {
    const sent = argumentsOf({ method: 'POST', body: { kind: 'json', value: { prompt } } });
    assert.deepEqual(sent.slice(1, -1), ['-H', 'Content-Type: application/json', '-d']);
    assert.deepEqual(JSON.parse(sent.at(-1) ?? ''), { prompt });
  }
});

for (const [credential, headers] of [
  ['none', []],
  ['key', ['Authorization: Bearer vg_1']],
  ['operator_key', ['Authorization: Bearer vgop_1']],
  ['cookie', ['Cookie: session=1', 'Videogen-Account: ACCOUNT_ID']],
] as const) {
  test(`the credential ${credential} is read from the environment`, () => {
    assert.deepEqual(
      argumentsOf({ credential }).slice(1),
      headers.flatMap((header) => ['-H', header]),
    );
  });
}

test('the method is given where curl would choose another, and a file is written to one', () => {
  const json = { kind: 'json', value: {} } as const;
  assert.deepEqual(argumentsOf({ method: 'DELETE' }).slice(1), ['-X', 'DELETE']);
  assert.ok(argumentsOf({ method: 'POST' }).includes('-X'));
  assert.ok(!argumentsOf({ method: 'POST', body: json }).includes('-X'));
  assert.ok(argumentsOf({ method: 'GET', body: json }).includes('-X'));
  assert.deepEqual(argumentsOf({ answer: 'file' }).slice(1), ['-L', '-o', 'video.mp4']);
});

test('a file is sent with its type', () => {
  const body = { kind: 'file', type: 'image/png', fileName: 'image.png' } as const;
  assert.deepEqual(argumentsOf({ method: 'POST', body }).slice(1), [
    '-H',
    'Content-Type: image/png',
    '--data-binary',
    '@image.png',
  ]);
});
