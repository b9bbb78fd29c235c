import { Worker } from 'bullmq';

// A separate process: a worker whose jobs take no time, and which calls the
// client's receiver. A callback that fails is lost, unless its job is repeated
// from the start.

const connection = { host: '127.0.0.1', port: Number(process.env['REDIS_PORT']), maxRetriesPerRequest: null };
const worker = new Worker('tasks', generate, { connection, concurrency: 100 });

async function generate(job) {
  const result = { resultUrls: ['http://127.0.0.1/video.mp4'] };
  process.send?.({ done: job.id, at: performance.timeOrigin + performance.now() });
  const body = JSON.stringify({ code: 200, msg: 'success', data: { taskId: job.id, state: 'success', result } });
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(job.data.callBackUrl, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return result;
}

process.once('SIGTERM', () => process.exit(0));
await worker.waitUntilReady();
process.send?.('ready');
