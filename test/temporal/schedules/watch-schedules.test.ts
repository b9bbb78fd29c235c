import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '@temporalio/client';
import { pino } from 'pino';
import { taskQueuesOf } from '../../../src/temporal/connection/queue-names-and-workflow-ids.ts';
import { createMetrics } from '../../../src/run/metrics/create-metrics-registry.ts';
import { startWorker } from '../../../src/run/main/start-worker.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { watchSchedules } from '../../../src/temporal/schedules/watch-schedules.ts';
import { readScheduleState, type ScheduleName, scheduleNames } from '../../../src/temporal/schedules/schedules.ts';
import { createTestEnvironment, type TestEnvironment } from '../../support/service/test-service.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { waitFor } from '../../support/wait-for.ts';

let environment: TestEnvironment;
let client: Client;
const closings: (() => Promise<void>)[] = [];
const metrics = createMetrics();
/** What the worker warns of. */
const logged: string[] = [];
before(async () => {
  environment = await createTestEnvironment({ WORKER_QUEUES: 'tasks' });
  closings.push(() => environment.close());
  const { settings } = environment;
  const connection = connectTemporal(settings.temporal);
  client = connection.client;
  closings.push(connection.close);
  const fail = (error: unknown) => {
    throw error;
  };
  const worker = await startWorker(
    settings,
    pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }),
    fail,
    metrics,
    undefined,
    20,
  );
  closings.push(() => worker.close());
  await worker.running;
});
after(async () => {
  for (const close of closings.toReversed()) await close();
});

for (const name of scheduleNames) {
  test(`a running worker creates the schedule ${name} again that Temporal has lost, and leaves a paused one paused`, async () => {
    const queues = taskQueuesOf(environment.settings.taskQueue);
    const stateOf = async () => (await readScheduleState(client, queues, name)).state;
    const { id, state } = await readScheduleState(client, queues, name);
    assert.equal(state, 'active');
    await client.schedule.getHandle(id).delete();
    await waitFor('the schedule', async () => ((await stateOf()) === 'active' ? true : undefined));
    await waitFor('the metric', async () => ((await isPresent(name)) === 1 ? true : undefined));
    const line = `"schedule":"${name}","msg":"schedule re-created"`;
    await waitFor('the line of the log', () => logged.find((one) => one.includes(line)));

    await client.schedule.getHandle(id).pause();
    // Temporal processes a pause after it has answered.
    await waitFor('the pause', async () => ((await stateOf()) === 'paused' ? true : undefined));
    metrics.registry.resetMetrics();
    await waitFor('another check', async () => isPresent(name));
    assert.equal(await stateOf(), 'paused');
  });
}

test('a schedule that cannot be checked is counted as missing', async () => {
  const { settings } = environment;
  const { client: closed, close } = connectTemporal(settings.temporal);
  await close();
  const queues = taskQueuesOf(settings.taskQueue);
  const stopping = new AbortController();
  const lines: string[] = [];
  const write = (line: string) => {
    if (lines.push(line) === scheduleNames.length) stopping.abort();
  };
  const events = recordEvents('schedule_checked');
  await watchSchedules(
    { client: closed, queues, log: pino({ level: 'warn' }, { write }), events, pauseMs: 60_000 },
    stopping.signal,
  );
  const missing = { kind: 'schedule_checked', queue: queues.tasks, isPresent: false };
  assert.deepEqual(
    events.seen,
    scheduleNames.map((schedule) => ({ ...missing, schedule })),
  );
  for (const [index, schedule] of scheduleNames.entries())
    assert.match(
      lines[index] ?? '',
      new RegExp(`"level":40,.*"err":.*"schedule":"${schedule}","msg":"schedule check failed"`),
    );
});

async function isPresent(name: ScheduleName): Promise<number | undefined> {
  const text = await metrics.registry.getSingleMetricAsString('videogen_schedule_present');
  const { tasks } = taskQueuesOf(environment.settings.taskQueue);
  const value = new RegExp(`queue="${tasks}",schedule="${name}"\\} (\\d)$`, 'm').exec(text)?.[1];
  return value === undefined ? undefined : Number(value);
}
