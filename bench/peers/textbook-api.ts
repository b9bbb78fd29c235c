import { WithStartWorkflowOperation } from '@temporalio/client';
import Koa from 'koa';
import getRawBody from 'raw-body';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { connectTemporal } from '../../src/temporal/connection/connect.ts';
import type { acceptedUpdate, recordQuery, textbookTask } from './textbook-workflow.ts';

// A separate process: an API with Temporal and nothing else behind it. A create
// waits until the workflow has charged, by update-with-start; a read is a
// query.

const { TEMPORAL_ADDRESS: address = '', VIDEOGEN_TASK_QUEUE: taskQueue = '' } = process.env;
const { client } = connectTemporal({ connection: { address }, namespace: 'default' });
const json = z.object({ callBackUrl: z.string() });

const app = new Koa();
app.use(async (ctx) => {
  const data = ctx.method === 'POST' ? await create(ctx.req) : await record(String(ctx.query['id']));
  ctx.body = { code: 200, msg: 'success', data };
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
