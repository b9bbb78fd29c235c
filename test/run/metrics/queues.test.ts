import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { installationSources } from '../../../src/run/metrics/scrape-sources.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { exportScrapedGauges } from '../../../src/run/metrics/export-scraped-gauges.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { acceptTestTask, madeUpResult, taskParam } from '../../support/tasks/tasks.ts';

let database: TestDatabase;
let accountId: string;
let isUnavailable = false;
let reads = 0;
let catalogue = catalogueOf({ 'videogen-2.0': true, 'videogen-2.0-fast': false });
const metrics = createMetrics();
/** Scrapes within some seconds of each other share what was read. */
let now = 0;

before(async () => {
  mock.method(performance, 'now', () => now);
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'queues', credits: 1_000_000 });
  const run: typeof database.db.run = (statement, values) => {
    reads += 1;
    return isUnavailable
      ? Promise.reject(new DatabaseUnavailableError(false, new Error('unreachable')))
      : database.db.run(statement, values);
  };
  exportScrapedGauges(
    metrics.registry,
    installationSources({ ...database.db, run }, () => catalogue),
  );
});
after(async () => {
  mock.restoreAll();
  await database.close();
});

/** The built-in models of these names, and whether upstreams generate them. */
function catalogueOf(isRemote: Readonly<Record<string, boolean>>): ReturnType<typeof builtInCatalogue> {
  const { models, ...rest } = builtInCatalogue();
  const chosen = [...models].filter(([name]) => name in isRemote);
  return {
    ...rest,
    models: new Map(chosen.map(([name, model]) => [name, { ...model, isRemote: isRemote[name] === true }])),
  };
}

async function scraped(): Promise<Readonly<Record<string, number>>> {
  now += 6_000;
  return scrapedAgain();
}

async function scrapedAgain(): Promise<Readonly<Record<string, number>>> {
  const lines = (await metrics.registry.metrics()).split('\n');
  const figures = /^videogen_((?:tasks|queue|callbacks_pending)(?:[^ ]*)) (\S+)$/;
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name = '', value] = figures.exec(line) ?? [];
      return value === undefined || name.startsWith('tasks_') ? [] : [[name, Number(value)]];
    }),
  );
}

const model = { local: 'videogen-2.0-fast', remote: 'videogen-2.0' };

async function accept(name: string, ageSeconds: number, callBackUrl?: string): Promise<string> {
  const param = { ...taskParam(name), model: name, ...(callBackUrl !== undefined && { callBackUrl }) };
  const taskId = await acceptTestTask(database.db, accountId, param);
  const text = `update tasks set created_at = now() - ${ageSeconds} * interval '1 second' where id = $1`;
  await database.db.run({ name: `age-${ageSeconds}`, text }, [taskId]);
  return taskId;
}

test('an idle installation shows a zero for every model and queue, so that nothing is absent', async () => {
  assert.deepEqual(await scraped(), {
    ...zeros('tasks', ['waiting', 'queuing', 'generating'], [model.remote, model.local], 'state'),
    'queue_depth{queue="tasks",model="videogen-2.0"}': 0,
    'queue_depth{queue="generation-remote",model="videogen-2.0"}': 0,
    'queue_depth{queue="tasks",model="videogen-2.0-fast"}': 0,
    'queue_depth{queue="generation",model="videogen-2.0-fast"}': 0,
    'queue_depth{queue="callbacks",model=""}': 0,
    'queue_oldest_age_seconds{queue="tasks",model="videogen-2.0"}': 0,
    'queue_oldest_age_seconds{queue="generation-remote",model="videogen-2.0"}': 0,
    'queue_oldest_age_seconds{queue="tasks",model="videogen-2.0-fast"}': 0,
    'queue_oldest_age_seconds{queue="generation",model="videogen-2.0-fast"}': 0,
    'queue_oldest_age_seconds{queue="callbacks",model=""}': 0,
    callbacks_pending: 0,
  });
});

function zeros(name: string, states: readonly string[], ofModels: readonly string[], label: string) {
  return Object.fromEntries(
    ofModels.flatMap((one) => states.map((state) => [`${name}{${label}="${state}",model="${one}"}`, 0])),
  );
}

test('tasks are shown in their states and queues, with the age of the oldest; those that have ended are not', async () => {
  await accept(model.local, 50);
  const queued = [await accept(model.local, 400), await accept(model.local, 90), await accept(model.remote, 30)];
  for (const taskId of queued) await recordQueuing(database.db, taskId);
  const running = await accept(model.local, 1_000);
  await beginGenerationAttempt(database.db, running);
  const ended = [await accept(model.local, 5_000, 'http://receiver.test/'), await accept(model.local, 5_000)];
  await completeTask(database.db, ended[0] ?? '', madeUpResult);
  await failAndRefund(database.db, ended[1] ?? '', { failCode: 'internal', failMsg: 'A test.' });
  const figures = await scraped();
  assert.equal(figures['tasks{state="waiting",model="videogen-2.0-fast"}'], 1);
  assert.equal(figures['tasks{state="queuing",model="videogen-2.0-fast"}'], 2);
  assert.equal(figures['tasks{state="generating",model="videogen-2.0-fast"}'], 1);
  assert.equal(figures['queue_depth{queue="tasks",model="videogen-2.0-fast"}'], 1);
  assert.equal(figures['queue_depth{queue="generation",model="videogen-2.0-fast"}'], 2);
  assert.equal(figures['queue_depth{queue="generation-remote",model="videogen-2.0"}'], 1);
  assert.equal(
    Math.floor((figures['queue_oldest_age_seconds{queue="generation",model="videogen-2.0-fast"}'] ?? 0) / 100),
    4,
  );
  assert.equal(figures['queue_depth{queue="callbacks",model=""}'], 1);
  assert.equal(figures['callbacks_pending'], 1);
});

test('scrapes within five seconds of each other, also at the same time, read the database once', async () => {
  await scraped();
  reads = 0;
  await Promise.all([scrapedAgain(), scrapedAgain()]);
  assert.equal(reads, 0);
});

test('while the database is unavailable the last figures stay', async () => {
  const known = await scraped();
  isUnavailable = true;
  const last = await scraped();
  isUnavailable = false;
  assert.equal(
    last['tasks{state="queuing",model="videogen-2.0-fast"}'],
    known['tasks{state="queuing",model="videogen-2.0-fast"}'],
  );
});

test('tasks of models that have left the catalogue are counted together', async () => {
  catalogue = catalogueOf({ [model.local]: false });
  const figures = await scraped();
  assert.equal(figures['tasks{state="queuing",model="(removed)"}'], 1);
  assert.equal(Object.keys(figures).filter((name) => name.includes('"videogen-2.0"')).length, 0);
});
