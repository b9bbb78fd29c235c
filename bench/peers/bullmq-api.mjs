import { Queue } from 'bullmq';
import { createServer } from 'node:http';

// A separate process: a task API on BullMQ, written as its documentation shows.
// It validates, charges and signs nothing.

const connection = { host: '127.0.0.1', port: Number(process.env['REDIS_PORT']) };
const queue = new Queue('tasks', { connection });

const server = createServer(async (request, response) => {
  const answer = (status, data) => {
    const text = JSON.stringify({ code: status, msg: 'success', data });
    response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
  };
  try {
    if (request.method === 'POST') answer(200, await create(await bodyOf(request)));
    else answer(200, await record(new URL(request.url ?? '/', 'http://bench').searchParams.get('id') ?? ''));
  } catch (error) {
    answer(500, { error: String(error) });
  }
});

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

async function create(body) {
  const job = await queue.add('generate', body);
  return { taskId: job.id };
}

async function record(id) {
  const job = await queue.getJob(id);
  if (job === undefined) return { taskId: id, state: 'unknown' };
  return { taskId: id, state: job.finishedOn === undefined ? 'waiting' : 'success', result: job.returnvalue };
}

process.once('SIGTERM', () => process.exit(0));
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'));
