import assert from 'node:assert/strict';
import { type ChildProcess, execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { findAccount } from '../../src/stores/accounts.ts';
import { createDatabase, type Database } from '../../src/stores/database.ts';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { createTask, recordInfo } from '../support/api.ts';
import { endOf, endPrograms, startProgram } from '../support/programs.ts';
import { postgresUrl } from '../support/servers.ts';
import { createTestEnvironment } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';

// The order of docs/operations/upgrade.md, "Upgrading", with a release of before and this one, in processes of their own, on one database and
// one Temporal. VIDEOGEN_TEST_OLD_RELEASE is the folder of a checkout of the release of before, built.

const oldRelease = process.env['VIDEOGEN_TEST_OLD_RELEASE'];
const skip =
  oldRelease === undefined ? 'VIDEOGEN_TEST_OLD_RELEASE names no built checkout of an earlier release' : false;
const newRelease = fileURLToPath(new URL('../../..', import.meta.url));
const credits = 100_000_000;
/** Tasks of a round, through each API. */
const perRound = 4;

type Api = { readonly baseUrl: string; readonly child: ChildProcess };

test('an upgrade in the documented order fails no request, and loses and doubles no task', { skip }, async (t) => {
  assert.ok(oldRelease !== undefined);
  const { db, environment, run, startApi } = await stage(t);
  const worker = (release: string) => startProgram(join(release, 'dist/src/main/worker.js'), [], { env: environment });
  await run(oldRelease, 'migrate');
  const { accountId = '' } = await run(oldRelease, 'account', 'create', 'upgraded', '--credits', String(credits));
  const { key = '' } = await run(oldRelease, 'key', 'create', '--account', accountId);
  const charged = new Map<string, number>();
  const create = async ({ baseUrl }: Api, directives: string) => {
    const request = { model: 'videogen-2.0-fast', input: { prompt: `${directives} upgraded` } };
    const { status, body } = await createTask({ baseUrl, key }, request);
    assert.equal(status, 200, JSON.stringify(body));
    charged.set(String(body.data['taskId']), Number(body.data['creditsCharged']));
    return String(body.data['taskId']);
  };
  const stateAt = async ({ baseUrl }: Api, taskId: string) =>
    (await recordInfo({ baseUrl, key }, taskId)).body.data['state'];
  const succeeds = (api: Api, taskId: string) =>
    waitFor(`the end of task ${taskId}`, async () => {
      const state = await stateAt(api, taskId);
      assert.notEqual(state, 'fail');
      return state === 'success' ? true : undefined;
    });
  /** Tasks through each API, seen to their end through each of them. */
  const round = async (apis: readonly Api[]) => {
    const ids = await Promise.all(
      apis.flatMap((api) => Array.from({ length: perRound }, () => create(api, '[[instant]]'))),
    );
    for (const taskId of ids) await Promise.all(apis.map((api) => succeeds(api, taskId)));
  };

  const oldApi = await startApi(oldRelease);
  const oldWorker = worker(oldRelease);
  await round([oldApi]);
  // Clients go on all the time, through whatever API there is.
  let live: readonly Api[] = [oldApi];
  const over = new AbortController();
  const client = (async () => {
    for (let turn = 0; !over.signal.aborted; turn += 1) {
      const api = live[turn % live.length];
      assert.ok(api);
      await create(api, turn % 5 === 0 ? '[[instant]] [[slow 5s]]' : '[[instant]]');
      await delay(500);
    }
  })();
  client.catch(() => undefined);

  await run(newRelease, 'migrate');
  await round([oldApi]);
  const newApi = await startApi(newRelease);
  live = [oldApi, newApi];
  await round(live);
  const newWorker = worker(newRelease);
  await round(live);
  const spanning = await create(oldApi, '[[instant]] [[slow 20s]]');
  await waitFor('its generation', async () => ((await stateAt(oldApi, spanning)) === 'generating' ? true : undefined));
  oldWorker.kill('SIGTERM');
  assert.deepEqual(await endOf(oldWorker), { code: 0, signal: null });
  await round(live);
  live = [newApi];
  oldApi.child.kill('SIGTERM');
  assert.deepEqual(await endOf(oldApi.child), { code: 0, signal: null });
  await round(live);
  over.abort();
  await client;

  for (const taskId of charged.keys()) await succeeds(newApi, taskId);
  const spent = [...charged.values()].reduce((sum, amount) => sum + amount, 0);
  assert.equal((await findAccount(db, accountId))?.balance, credits - spent);
  assert.deepEqual(await auditLedger(db), []);
  await run(newRelease, 'audit');
  newWorker.kill('SIGTERM');
  assert.deepEqual(await endOf(newWorker), { code: 0, signal: null });
  t.diagnostic(`${charged.size} tasks`);
});

type Stage = {
  readonly db: Database;
  readonly environment: NodeJS.ProcessEnv;
  /** What `videogen …` of a release prints; throws when it fails. */
  readonly run: (release: string, ...args: readonly string[]) => Promise<Readonly<Record<string, string>>>;
  readonly startApi: (release: string) => Promise<Api>;
};

async function stage(t: TestContext): Promise<Stage> {
  const common = await createTestEnvironment();
  const server = await postgresUrl();
  const url = new URL(server);
  url.pathname = `/test_${randomBytes(6).toString('hex')}`;
  await asked(server, `create database ${url.pathname.slice(1)}`);
  const db = createDatabase({ url: url.href, poolSize: 4 });
  t.after(async () => {
    await endPrograms();
    await db.close();
    await asked(server, `drop database ${url.pathname.slice(1)} with (force)`);
    await common.close();
  });
  const environment = {
    ...common.environment,
    DATABASE_URL: url.href,
    SHUTDOWN_DELAY: '0',
    GENERATION_CONCURRENCY: '50',
  };
  return {
    db,
    environment,
    run: async (release, ...args) => {
      const command = [join(release, 'dist/src/cli/cli.js'), ...args, '--json'];
      const { stdout } = await promisify(execFile)(process.execPath, command, { env: environment });
      return JSON.parse(stdout) as Record<string, string>; // ids and keys are texts, and nothing else is read
    },
    startApi: async (release) => {
      const port = await freePort();
      const child = startProgram(join(release, 'dist/src/main/api.js'), [], {
        env: { ...environment, PORT: String(port) },
      });
      const baseUrl = `http://127.0.0.1:${port}`;
      await waitFor(`the API at ${baseUrl}`, async () => {
        const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
        return response?.ok === true ? true : undefined;
      });
      return { baseUrl, child };
    },
  };
}

async function asked(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
