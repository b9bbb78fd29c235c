import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createTask } from '../support/api.ts';
import { commandsBeside, createShell, type Shell } from '../support/page-commands.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// Command blocks of docs/operations as they are written there; ids take the places of the words in capitals.

describe('a recipe of docs/operations', () => {
  let folder: string;
  let environment: TestEnvironment;
  let shell: Shell;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-recipes-'));
    environment = await createTestEnvironment();
    shell = await createShell(folder, environment.environment);
  });
  after(async () => {
    await environment.close();
    await rm(folder, { recursive: true });
  });

  const command = (line: string) => line.replace(/ +#.*/, '');
  const json = async (line: string) =>
    JSON.parse(await shell.run(`${command(line)} --json`)) as Record<string, unknown>;

  test('operators', async () => {
    const [create = '', list = '', revoke = ''] = commandsBeside('videogen operator create');
    const { operatorId } = await json(create);
    assert.match(await shell.run(list), /Ada Lovelace/);
    await shell.run(revoke.replace('OPERATOR', String(operatorId)));
  });

  test('people', async () => {
    const { accountId } = await createTestAccount(environment.database);
    const lines = commandsBeside('videogen user setup-link').map((line) => line.replace('ACCOUNT', accountId));
    for (const line of lines.slice(0, 3)) assert.match(await shell.run(line), /https?:\/\//);
    // Bob takes his invitation first.
    await environment.database.db.run({
      name: 'test-bob',
      text: `insert into users (id, email) values (gen_random_uuid(), 'bob@example.com')`,
    });
    const [erase = '', ...others] = lines.slice(3).toReversed();
    for (const line of others.toReversed()) await shell.run(line);
    assert.match(await shell.run('videogen user list'), /bob@example\.com.*disabled/);
    await shell.run(command(erase));
    assert.doesNotMatch(await shell.run('videogen user list'), /bob@example\.com/);
  });

  test('prices', async () => {
    const { accountId } = await createTestAccount(environment.database);
    const next = String(new Date().getUTCFullYear() + 1);
    const [list = '', ...changes] = commandsBeside('videogen price list').map((line) =>
      line
        .replace(/\[(.*)\]/, '$1')
        .replace('ACCOUNT', accountId)
        .replace('2027', next),
    );
    const withdraw = changes.pop() ?? '';
    const [{ priceId } = {}] = await Promise.all(changes.map(json));
    await shell.run(list);
    await shell.run(withdraw.replace('PRICE', String(priceId)));
  });

  test('installing without containers: a task succeeds', async () => {
    const lines = commandsBeside('npm ci');
    const { environment: given } = environment;
    const values: Readonly<Record<string, string | undefined>> = {
      DATABASE_URL: given.DATABASE_URL,
      TEMPORAL_ADDRESS: given['TEMPORAL_ADDRESS'],
      TEMPORAL_NAMESPACE: 'default',
      RESULT_STORE: join(folder, 'results'),
      PUBLIC_URL: environment.settings.publicUrl,
    };
    const exports = lines
      .filter((line) => line.startsWith('export '))
      .join('; ')
      .replaceAll(/(\w+)=([^" ]\S*)/g, (whole, name: string) => (name in values ? `${name}='${values[name]}'` : whole))
      // Made once.
      .replace('"$(openssl rand -base64 32)"', `'${(await shell.run('openssl rand -base64 32')).trim()}'`);
    assert.equal(exports.match(/ [A-Z_]+='/g)?.length, 6);
    const programs: ChildProcess[] = [];
    try {
      for (const line of lines.filter((one) => !/^(npm ci|export)/.test(one))) {
        if (line.startsWith('node ')) programs.push(shell.start(`${exports}; exec ${command(line)}`));
        else if (line.includes('doctor')) assert.match(await shell.run(`${exports}; ${command(line)} || true`), /ok/);
        else await shell.run(`${exports}; ${line}`);
      }
      const { baseUrl, key } = {
        ...(await createTestAccount(environment.database)),
        baseUrl: environment.settings.publicUrl,
      };
      await waitFor('the API', async () =>
        (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.ok ? true : undefined,
      );
      const { body } = await createTask(
        { baseUrl, key },
        { model: 'videogen-2.0-fast', input: { prompt: '[[instant]]', duration: 4 } },
      );
      const task = await waitForEnd(environment.database.db, String(body.data['taskId']));
      assert.equal(task.state, 'success');
    } finally {
      for (const program of programs) {
        program.kill('SIGTERM');
        if (program.exitCode === null) await once(program, 'exit');
      }
    }
    assert.deepEqual(
      programs.map(({ exitCode }) => exitCode),
      [0, 0],
    );
  });
});
