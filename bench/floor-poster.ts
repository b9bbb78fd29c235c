import { Agent, request } from 'node:http';
import { inParallel } from './load.ts';

// A process of its own: plain POSTs by Node's own client, over kept connections, as many at once as it is told. It says how long
// they took.

const bodyBytes = 900;

type Word = { readonly url: string; readonly count: number; readonly atOnce: number };

function post(url: string, agent: Agent): Promise<void> {
  const body = JSON.stringify({ data: 'x'.repeat(bodyBytes) });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', resolve);
    });
    sent.on('error', reject).end(body);
  });
}

process.on('message', ({ url, count, atOnce }: Word) => {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const startedAt = performance.now();
  void inParallel(count, atOnce, () => post(url, agent)).then(() => {
    agent.destroy();
    process.send?.({ tookMs: performance.now() - startedAt });
  });
});
process.once('SIGTERM', () => process.exit(0));
process.send?.('ready');
