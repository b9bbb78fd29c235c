import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { createAccount } from '../../../src/credits/open-account.ts';
import { ensureSigningSecrets } from '../../../src/tasks/callbacks/signing-secrets.ts';
import { reportChangedSecret, countUnopenedSecrets } from '../../../src/run/main/report-changed-secret.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

test('a process says at the start that VIDEOGEN_SECRET does not open what is stored, and what to do', async () => {
  const [secret, other] = ['s'.repeat(32), 'o'.repeat(32)];
  const accountId = await createAccount(database.db, { name: 'a', credits: 0 });
  await ensureSigningSecrets(database.db, createSecretBox(secret), accountId);
  const report = async (settings: Parameters<typeof reportChangedSecret>[1], db: Database = database.db) => {
    const [lines, said]: [string[], string[]] = [[], []];
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    await reportChangedSecret(db, settings, log, (message) => said.push(message));
    return { lines: lines.join(''), said: said.join('') };
  };
  const { lines, said } = await report({ secret: other });
  assert.match(lines, /"level":50.*"remedy":"Name the secret .*VIDEOGEN_SECRET does not open 1 of 1 callback secrets/);
  assert.match(
    said,
    /^VIDEOGEN_SECRET does not open 1 of 1 .* callbacks cannot be signed\. Name the secret .* VIDEOGEN_SECRET_PREVIOUS; without it: videogen callback-secret rotate/,
  );
  assert.deepEqual(await report({ secret }), { lines: '', said: '' });
  assert.deepEqual(await report({ secret: other, secretPrevious: [secret] }), { lines: '', said: '' });
  const second = await createAccount(database.db, { name: 'b', credits: 0 });
  await ensureSigningSecrets(database.db, createSecretBox(other), second);
  assert.match((await report({ secret })).lines, /does not open 1 of 2 callback secrets/);
  const both = { secret: other, secretPrevious: [secret] };
  assert.deepEqual(await countUnopenedSecrets(database.db, both), { tried: 2, unopened: 0, older: 1 });
  const unavailable = { ...database.db, run: () => Promise.reject(new Error('unavailable')) };
  const unchecked = await report({ secret }, unavailable);
  assert.match(unchecked.lines, /"level":40.*"message":"unavailable".*stored secrets not checked/);
  assert.equal(unchecked.said, '');
});
