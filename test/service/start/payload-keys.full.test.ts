import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { pino } from 'pino';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import { parsePayloadKeys } from '../../../src/temporal/connection/payload-keys.ts';
import { taskWorkflowId } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import type { CompleteSettings } from '../../../src/run/config/complete-settings-and-derived-values.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { createTaskProgressReader } from '../../../src/temporal/engine/task-progress.ts';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { createFakeUpstream } from '../../support/tasks/fake-upstream.ts';
import { connectEngine, type EngineClient, model } from '../../support/service/test-installation.ts';
import { waitForDelivery } from '../../support/tasks/owed-callback.ts';
import { createTestAccount, createTestEnvironment } from '../../support/service/test-service.ts';
import { acceptTestTask, taskParam, waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';
import { withUpstream } from '../../support/service/worker-with-upstream.ts';

const keyText = (id: string) => `${id}:${createHash('sha256').update(id).digest('base64')}`;

/** One installation whose processes are started with one set of keys after the other. */
async function withInstallation(
  work: (stage: Awaited<ReturnType<typeof installation>>) => Promise<void>,
): Promise<void> {
  const environment = await createTestEnvironment({ STUCK_TASK_SECONDS: '1' });
  try {
    await work(await installation(environment));
    assert.deepEqual(await auditLedger(environment.database.db), []);
  } finally {
    await environment.close();
  }
}

const unchanged = (parts: WorkerParts) => parts;

async function installation({ settings, database }: Awaited<ReturnType<typeof createTestEnvironment>>) {
  const { db } = database;
  const { accountId } = await createTestAccount(database);
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const having = (...ids: string[]): CompleteSettings => {
    const payloadKeys = ids.length === 0 ? undefined : parsePayloadKeys(ids.map(keyText).join(','));
    return { ...settings, temporal: { ...settings.temporal, payloadKeys } };
  };
  const withTemporal = async <T>(keys: readonly string[], use: (engine: EngineClient) => Promise<T>) => {
    const temporal = connectEngine({ settings: having(...keys) });
    try {
      return await use(temporal);
    } finally {
      await temporal.close();
    }
  };
  return {
    db,
    lines,
    withTemporal,
    /** Accepts a task and starts its workflow, as an API with these keys does. */
    start: async (keys: readonly string[], prompt: string, callBackUrl?: string) => {
      const taskId = await acceptTestTask(db, accountId, taskParam(prompt, {}, callBackUrl));
      await withTemporal(keys, ({ engine }) => engine.startTask({ taskId, accountId, model }));
      return taskId;
    },
    withWorker: async <T>(keys: readonly string[], use: () => Promise<T>, wrap = unchanged): Promise<T> => {
      const fail = (error: unknown) => {
        throw error;
      };
      const worker = await startWorker(having(...keys), log, fail, undefined, wrap);
      try {
        await worker.running;
        return await use();
      } finally {
        await worker.close();
      }
    },
    history: (taskId: string) =>
      withTemporal([], async ({ client }) => {
        const execution = { workflowId: taskWorkflowId(taskId) };
        const { namespace } = client.options;
        const { history } = await client.workflowService.getWorkflowExecutionHistory({ namespace, execution });
        return history?.events ?? [];
      }),
    generating: (taskId: string) =>
      waitFor(`the generation of ${taskId}`, async () =>
        (await findTask(db, taskId))?.state === 'generating' ? true : undefined,
      ),
  };
}

type Installation = Awaited<ReturnType<typeof installation>>;
type Events = Awaited<ReturnType<Installation['history']>>;

/** The id of the key of every payload in a history; '' for one that is not encrypted. */
function keyIdsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('metadata' in value && 'data' in value) {
    const metadata = value.metadata as Record<string, Uint8Array>;
    return [Buffer.from(metadata['encryption-key-id'] ?? []).toString()];
  }
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    isReadable(name, inner) ? [] : keyIdsIn(inner),
  );
}

/** Search attributes, which are ids and the state of a task, and what the SDK notes for itself: names of patches, times of activities. */
function isReadable(name: string, value: unknown): boolean {
  return ['searchAttributes', 'patch-data', 'data'].includes(name) || value === null;
}

/** The text of every byte of it. */
function textOf(events: Events): string {
  return JSON.stringify(events, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
}

// Each has an installation of its own, and waits for most of its time.
describe('the keys of payloads', { concurrency: 3 }, () => {
  test('with a key nothing in a history can be read but ids, and its task is generated, shown and called back', () =>
    withInstallation(async ({ db, start, withWorker, withTemporal, history }) => {
      const receiver = await startCallbackReceiver({});
      const upstream = createFakeUpstream({ instant: false, progress: 40 });
      const held = (parts: WorkerParts) => withUpstream(parts, upstream);
      try {
        const generate = async () => {
          const id = await start(['one'], 'a lighthouse', `${receiver.url}/a`);
          await withTemporal(['one'], async ({ client }) => {
            const progressOf = createTaskProgressReader(client);
            await waitFor('progress', async () => {
              const task = await findTask(db, id);
              return task !== undefined && (await progressOf(task)) > 0 ? true : undefined;
            });
          });
          upstream.finish();
          assert.equal((await waitForEnd(db, id)).state, 'success');
          await waitForDelivery(db, id, 'delivered');
          return id;
        };
        const taskId = await withWorker(['one'], generate, held);
        const events = await history(taskId);
        assert.ok(events.length > 10);
        assert.deepEqual(new Set(keyIdsIn(events)), new Set(['one']));
        const text = textOf(events);
        for (const word of ['lighthouse', 'results/', receiver.url, 'generate with', 'for account'])
          assert.ok(!text.includes(word), word);
      } finally {
        await receiver.close();
      }
    }));

  test('keys are added, changed and removed while tasks run: old, mixed and plain histories go on', () =>
    withInstallation(async ({ db, start, withWorker, generating, history }) => {
      // No job ends before all keys have changed.
      const upstream = createFakeUpstream({ instant: false });
      const held = (parts: WorkerParts) => withUpstream(parts, upstream);
      const startGenerating = async (keys: readonly string[]) => {
        const taskId = await start(keys, 'rotation');
        await generating(taskId);
        return taskId;
      };
      const first = await withWorker([], () => startGenerating([]), held);
      const second = await withWorker(['old'], () => startGenerating(['old']), held);
      const finish = async () => {
        const third = await startGenerating(['new', 'old']);
        upstream.finish();
        for (const taskId of [first, second, third]) {
          const { state, failure } = await waitForEnd(db, taskId);
          assert.equal(state, 'success', failure?.failMsg);
        }
      };
      await withWorker(['new', 'old'], finish, held);
      assert.ok(new Set(keyIdsIn(await history(first))).has(''));
      assert.deepEqual(new Set(keyIdsIn(await history(second))), new Set(['old', 'new']));
    }));

  for (const wrong of [[], ['new']]) {
    test(`a worker with ${wrong.length === 0 ? 'no key' : 'another key'} raises an alarm, and the task waits until the key is there`, () =>
      withInstallation(async ({ db, lines, start, withWorker, withTemporal }) => {
        const taskId = await start(['old'], '[[instant]] waits');
        await withWorker(wrong, async () => {
          const alarm = await withTemporal(wrong, ({ untilRun }) =>
            untilRun('reconcile', 'the alarm', () => lines.find((line) => line.includes('payload key missing'))),
          );
          assert.match(alarm, /under the key \\"old\\": it is not among TEMPORAL_PAYLOAD_KEYS/);
        });
        assert.equal((await findTask(db, taskId))?.state, 'waiting');
        await withWorker(['new', 'old'], async () => {
          assert.equal((await waitForEnd(db, taskId)).state, 'success');
        });
      }));
  }
});
