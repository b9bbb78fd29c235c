import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

const kindsOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly kind: string }).kind);

test('the command writes an account into a new file or to its output, and never into an existing file', async () => {
  const installation = await createTestEnvironment();
  const { environment, database } = installation;
  const folder = await mkdtemp(join(tmpdir(), 'videogen-export-'));
  try {
    const { accountId } = await createTestAccount(database);
    await acceptTestTask(database.db, accountId, taskParam('a lighthouse'));
    const path = join(folder, 'account.jsonl');
    const run = () => videogen(environment, 'account', 'export', '--account', accountId, '--output', path);
    assert.equal((await run()).code, 0);
    const written = kindsOf(await readFile(path, 'utf8'));
    assert.deepEqual(written, ['account', 'task', 'ledgerEntry', 'ledgerEntry', 'key', 'end']);
    const again = await run();
    assert.equal(again.code, 1);
    assert.match(again.stderr, /exists already/);
    const { code, stdout } = await videogen(
      environment,
      'account',
      'export',
      '--account',
      accountId,
      '--output',
      '-',
      '--json',
    );
    assert.equal(code, 0);
    assert.deepEqual(kindsOf(stdout), written);
  } finally {
    await installation.close();
    await rm(folder, { recursive: true });
  }
});
