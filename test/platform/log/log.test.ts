import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const scratch = mkdtempSync(join(tmpdir(), 'videogen-log-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const ends = {
  'process.exit': 'process.exit(1)',
  'an uncaught error': `throw new Error('planned')`,
  'nothing left to do': '',
};

for (const [how, code] of Object.entries(ends)) {
  test(`a process that ends by ${how} writes its last lines first, to standard output and to a file`, () => {
    const path = join(scratch, `${how}.log`);
    const toOutput = runLogging(code, '');
    runLogging(code, `, path: ${JSON.stringify(path)}`);
    for (const text of [toOutput, readFileSync(path, 'utf8')]) assert.deepEqual(messagesOf(text), ['first', 'last']);
  });
}

test('a line has its level, its time and its fields, and nothing about the machine', () => {
  const [line = '{}'] = runLogging('', '').split('\n');
  const { time, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  assert.deepEqual(fields, { level: 30, msg: 'first' });
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('an error is logged without the fields that PostgreSQL adds to it: they hold the failing row, and with it a prompt', () => {
  const text = runLogging(
    `const error = Object.assign(new Error('violates a check'), { code: '23514', detail: 'Failing row: a secret prompt' });
log.warn({ err: error }, 'ours');
log.warn({ error: new Error('failed', { cause: error }) }, 'of the Temporal SDK');`,
    '',
  );
  assert.match(text, /"code":"23514"/);
  assert.match(text, /"cause":\{"type":"Error","message":"violates a check"/);
  assert.doesNotMatch(text, /prompt/);
});

test('secrets, and the headers that carry them, are in no line', () => {
  const secrets = ['authorization', 'cookie', 'secret', 'key'];
  const [own, headers, inner] = ['own', 'of-headers', 'inner'].map((where) =>
    Object.fromEntries(secrets.map((name) => [name, `${where}-${name}-value`])),
  );
  const fields = {
    ...own,
    headers,
    settings: { secret: inner?.['secret'], key: inner?.['key'] },
    shown: 'shown-value',
  };
  const text = runLogging(`log.warn(${JSON.stringify(fields)}, 'fields')`, '');
  assert.deepEqual(text.match(/[a-z-]+-value/g), ['shown-value']);
});

function runLogging(code: string, destination: string): string {
  const module = JSON.stringify(new URL('../../../src/platform/log/log.js', import.meta.url).href);
  const script = `import { createLog } from ${module};
const log = createLog({ level: 'info'${destination} });
log.info('first');
log.fatal('last');
${code}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout;
}

function messagesOf(text: string): readonly unknown[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { msg: unknown }).msg);
}
