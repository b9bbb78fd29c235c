import Koa from 'koa';
import pg from 'pg';
import getRawBody from 'raw-body';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { connectTemporal } from '../src/temporal/connection/connect.ts';
import { createBackgroundCalls } from '../src/temporal/engine/background-calls.ts';
import type { bareTask } from './floor-workflow.ts';

// A separate process that measures the cost of HTTP and PostgreSQL alone. It
// has no router, no keys and no log, but the same pool of ten connections and
// the same prepared statements as the service. With TEMPORAL_ADDRESS it starts
// an empty workflow after each insert, as the service does.

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
const insert = {
  name: 'insert',
  text: 'insert into floor_rows (id, body) values (gen_random_uuid(), $1) returning id',
};
const select = { name: 'select', text: 'select id, body from floor_rows where id = $1' };
const json = z.record(z.string(), z.unknown());

const { TEMPORAL_ADDRESS: temporal } = process.env;
const starts = temporal === undefined ? undefined : createBackgroundCalls<string>(startOn(temporal), () => {});

function startOn(address: string): (taskId: string) => Promise<unknown> {
  const { client } = connectTemporal({ connection: { address }, namespace: 'default' }, { retries: false });
  return (taskId) =>
    client.workflow.start<typeof bareTask>('bareTask', {
      workflowId: taskId,
      taskQueue: 'floor-http',
      args: [{ activities: 1 }],
    });
}

const app = new Koa();
app.use(async (ctx) => {
  const [row] = ctx.method === 'POST' ? await insertBody(ctx.req) : await selectById(String(ctx.query['id']));
  ctx.body = { code: 200, data: row };
});

async function insertBody(request: Parameters<typeof getRawBody>[0]): Promise<unknown[]> {
  const body = json.parse(JSON.parse(await getRawBody(request, { encoding: 'utf8', limit: 262_144 })));
  const { rows } = await pool.query<Record<string, unknown>>({ ...insert, values: [JSON.stringify(body)] });
  starts?.call(uuidv7());
  return rows;
}

async function selectById(id: string): Promise<unknown[]> {
  return (await pool.query<Record<string, unknown>>({ ...select, values: [id] })).rows;
}

app.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'));
process.once('SIGTERM', () => process.exit(0));
