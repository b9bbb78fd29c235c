import { WithStartWorkflowOperation, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import Koa from 'koa';
import getRawBody from 'raw-body';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { callWithin, connectTemporal, isUnavailable } from '../../src/temporal/connection/connect.ts';
import type { acceptedUpdate, recordQuery, textbookTask } from './textbook-workflow.ts';

// A separate process: an API with Temporal and nothing else behind it. A create
// waits until the workflow has charged, by update-with-start; a read is a
// query.

const { TEMPORAL_ADDRESS: address = '', VIDEOGEN_TASK_QUEUE: taskQueue = '' } = process.env;
const { client } = connectTemporal({ connection: { address }, namespace: 'default' });
const json = z.object({ callBackUrl: z.string() });
/** On a busy machine, an update or a query can take longer than a client waits. The client gets 503 then. */
const temporalLimitMs = 10_000;

const app = new Koa();
app.use(async (ctx) => {
  try {
    const data = await callWithin(client, temporalLimitMs, () =>
      ctx.method === 'POST' ? create(ctx.req) : record(String(ctx.query['id'])),
    );
    ctx.body = { code: 200, msg: 'success', data };
  } catch (error) {
    if (!isUnavailable(error) && !(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
    ctx.status = 503;
  }
});

async function create(request: Parameters<typeof getRawBody>[0]): Promise<unknown> {
  const { callBackUrl } = json.parse(JSON.parse(await getRawBody(request, { encoding: 'utf8', limit: 262_144 })));
  const taskId = uuidv7();
  const startWorkflowOperation = new WithStartWorkflowOperation<typeof textbookTask>('textbookTask', {
    workflowId: taskId,
    taskQueue,
    args: [{ taskId, url: callBackUrl }],
    workflowIdConflictPolicy: 'FAIL',
  });
  const update: (typeof acceptedUpdate)['name'] = 'accepted';
  const accepted = await client.workflow.executeUpdateWithStart<typeof textbookTask, { creditsCharged: number }, []>(
    update,
    {
      startWorkflowOperation,
    },
  );
  return { taskId, ...accepted };
}

async function record(taskId: string): Promise<unknown> {
  const query: (typeof recordQuery)['name'] = 'record';
  return client.workflow.getHandle(taskId).query<{ state: string }>(query);
}

app.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'));
process.once('SIGTERM', () => process.exit(0));
