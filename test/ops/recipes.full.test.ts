import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findEventEndpoint } from '../../src/tasks/callbacks/event-endpoint.ts';
import { listSpendCapsOfAccount } from '../../src/accounts/limits/spend-caps.ts';
import { startApi } from '../../src/run/main/start-api.ts';
import { listOperatorActions } from '../../src/accounts/operators/audit-log.ts';
import { createOperator } from '../../src/accounts/operators/operator-keys.ts';
import { createUser } from '../../src/accounts/people/users.ts';
import { createLog } from '../../src/platform/log/log.ts';
import { createTask } from '../support/service/call-api.ts';
import { commandsBeside, createShell, type Shell } from '../support/documents/operations-commands.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service/test-service.ts';
import { waitForEnd } from '../support/tasks/tasks.ts';
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

  /** Runs lines beside an API, with the key of an operator. */
  const withApi = async (work: () => Promise<void>) => {
    const api = await startApi(environment.settings, createLog({ level: 'silent' }));
    const { key } = await createOperator(environment.database.db, { name: 'ada' });
    shell = await createShell(folder, { ...environment.environment, VIDEOGEN_OPERATOR_KEY: key });
    try {
      await work();
    } finally {
      await api.close();
    }
  };

  test('operators', async () => {
    const [create = '', list = '', revoke = ''] = commandsBeside('videogen operator create', 'access.md');
    const { operatorId } = await json(create);
    assert.match(await shell.run(list), /Ada Lovelace/);
    await shell.run(revoke.replace('OPERATOR', String(operatorId)));
  });

  test('people', () =>
    withApi(async () => {
      const { accountId } = await createTestAccount(environment.database);
      const { userId } = await createUser(environment.database.db, {
        email: 'bob@example.com',
        isOperator: false,
        passwordHash: 'x',
      });
      const lines = commandsBeside('videogen user setup-link').map((line) =>
        line.replace('ACCOUNT', accountId).replace('USER', userId),
      );
      const links = lines.filter((line) => /setup-link|reset|invite/.test(line));
      assert.equal(links.length, 4);
      for (const line of links) assert.match(await shell.run(line), /https?:\/\//);
      const [erase = '', ...others] = lines.filter((line) => !links.includes(line));
      for (const line of others.toReversed()) assert.match(await shell.run(line), new RegExp(userId));
      assert.match(await shell.run(command(others[0] ?? '')), /"isDisabled": true/);
      await shell.run(command(erase));
      assert.doesNotMatch(await shell.run(command(others[0] ?? '')), new RegExp(userId));
    }));

  test('prices', () =>
    withApi(async () => {
      const { accountId } = await createTestAccount(environment.database);
      const next = String(Date.UTC(new Date().getUTCFullYear() + 1, 0));
      const [list = '', ...changes] = commandsBeside('videogen api GET /api/admin/v1/prices').map((line) =>
        line.replace('ACCOUNT', accountId).replace('1798761600000', next),
      );
      const withdraw = changes.pop() ?? '';
      const [{ priceId } = {}] = await Promise.all(changes.map(json));
      await shell.run(list);
      await shell.run(withdraw.replace('PRICE', String(priceId)));
    }));

  test('the event endpoint of an account, with a key that the audit log has, and its caps', () =>
    withApi(async () => {
      const { db } = environment.database;
      const { accountId } = await createTestAccount(environment.database);
      const [create = '', , ...requests] = commandsBeside('videogen key create --account ACCOUNT --name events');
      const { key } = await json(create.replace('ACCOUNT', accountId));
      for (const line of requests) await shell.run(`VIDEOGEN_API_KEY=${String(key)} ${line}`);
      assert.deepEqual((await findEventEndpoint(db, accountId))?.types, ['task.failed', 'balance.low']);
      const [action] = await listOperatorActions(db, { accountId, limit: 1 });
      assert.deepEqual([action?.action, action?.actor.name], ['keys.create', userInfo().username]);
      const ofCaps = commandsBeside('videogen credits grant 5000').filter((line) => line.includes('/caps'));
      for (const line of ofCaps) await shell.run(line.replace('ACCOUNT', accountId));
      const caps = await listSpendCapsOfAccount(db, accountId);
      assert.deepEqual(
        caps.map(({ subject, period, credits }) => [subject, period, credits]),
        [['account', 'month', 50_000]],
      );
    }));

  test('installing without containers: a task succeeds', async () => {
    const lines = commandsBeside('npm ci');
    // The other recipes have used the database of `environment` with another secret and store.
    const installed = await createTestEnvironment();
    const { environment: given } = installed;
    shell = await createShell(folder, given);
    const values: Readonly<Record<string, string | undefined>> = {
      DATABASE_URL: given.DATABASE_URL,
      TEMPORAL_ADDRESS: given['TEMPORAL_ADDRESS'],
      TEMPORAL_NAMESPACE: 'default',
      RESULT_STORE: join(folder, 'results'),
      PUBLIC_URL: installed.settings.publicUrl,
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
        ...(await createTestAccount(installed.database)),
        baseUrl: installed.settings.publicUrl,
      };
      await waitFor('the API', async () =>
        (await fetch(`${baseUrl}/readyz`).catch(() => undefined))?.ok ? true : undefined,
      );
      const { body } = await createTask(
        { baseUrl, key },
        { model: 'videogen-2.0-fast', input: { prompt: '[[instant]]', duration: 4 } },
      );
      const task = await waitForEnd(installed.database.db, String(body.data['taskId']));
      assert.equal(task.state, 'success');
    } finally {
      for (const program of programs) {
        program.kill('SIGTERM');
        if (program.exitCode === null) await once(program, 'exit');
      }
      await installed.close();
    }
    assert.deepEqual(
      programs.map(({ exitCode }) => exitCode),
      [0, 0],
    );
  });
});
