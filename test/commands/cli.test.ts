import assert from 'node:assert/strict';
import { test } from 'node:test';
import { videogen } from '../support/videogen.ts';

// Each command is loaded by itself, so a name in the table of src/cli.ts that is not the command's own would lose it.
const commands = ['start', 'demo', 'generate', 'account', 'credits', 'key', 'operator', 'rate', 'task'].concat([
  'callback-secret',
  'audit',
  'migrate',
]);

test('the help names every command', async () => {
  const { code, stdout } = await videogen(process.env, '--help');
  assert.equal(code, 0);
  // A name stands two columns in; the lines of its description stand further in.
  const named = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
  assert.deepEqual(named, [...commands, 'help']);
});

for (const command of commands) {
  test(`${command} is found behind --json, too`, async () => {
    const { code, stdout } = await videogen(process.env, '--json', command, '--help');
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^Usage: videogen ${command} `));
  });
}

test('a command that does not exist is an error that shows the help', async () => {
  const { code, stderr } = await videogen(process.env, 'strat');
  assert.equal(code, 1);
  assert.match(stderr, /unknown command 'strat'[\s\S]*start/);
});
