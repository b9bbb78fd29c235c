import { randomBytes } from 'node:crypto';
import assert from 'node:assert/strict';
import pg from 'pg';
import { findBalanceAndThreshold } from '../../../src/credits/ledger/balance-and-low-balance-threshold.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { createInstallation } from '../../support/service/test-installation.ts';
import { postgresUrl } from '../../support/servers/server-addresses.ts';
import { videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

export async function balanceOf(db: Database, accountId: string): Promise<number> {
  return (await findBalanceAndThreshold(db, accountId))?.balance ?? Number.NaN;
}

/** An installation whose upstream ends jobs on request, with a receiver of callbacks and the command line. */
export async function stage() {
  const installation = await createInstallation();
  const receiver = await startCallbackReceiver();
  const command = (...args: readonly string[]) => videogen({ ...installation.environment }, ...args, '--json');
  return {
    ...installation,
    receiver,
    generating: (path: string) => installation.startGenerating(receiver.url + path),
    command,
    /** Runs a command at a later time, by the clock of its own process. */
    commandLater: (ms: number, ...args: readonly string[]) => {
      const ahead = `const now = Date.now; Date.now = () => now() + ${ms};`;
      const options = `--import=data:text/javascript,${encodeURIComponent(ahead)}`;
      return videogen({ ...installation.environment, NODE_OPTIONS: options }, ...args, '--json');
    },
    json: async (...args: readonly string[]) => {
      const { stdout, stderr } = await command(...args);
      assert.notEqual(stdout, '', stderr);
      return JSON.parse(stdout) as Record<string, unknown>;
    },
    close: async () => {
      await receiver.close();
      await installation.close();
    },
  };
}

/** A copy of the database as it is, while a worker goes on; answers its name. */
export async function backUp(url: string): Promise<string> {
  const backup = `backup_${randomBytes(6).toString('hex')}`;
  await copyDatabase(nameIn(url), backup);
  return backup;
}

export async function restore(url: string, backup: string): Promise<void> {
  await dropDatabase(nameIn(url));
  await copyDatabase(backup, nameIn(url));
}

/** PostgreSQL copies only a database without connections, so this ends them. They come back. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await waitFor('a copy without connections', () =>
    administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${from}'`)
      .then(() => administer(`create database ${to} template ${from}`))
      .then(
        () => true,
        () => undefined,
      ),
  );
}

export function dropDatabase(name: string): Promise<void> {
  return administer(`drop database ${name} with (force)`);
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: await postgresUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
