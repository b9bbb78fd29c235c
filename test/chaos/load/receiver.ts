import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { startRestartableServer } from '../../fakes/restartable-server.ts';
import { callbackContent } from '../judge/judge-evidence.ts';
import type { FinalTask, SeenCallback } from '../judge/evidence.ts';
import type { Random } from '../seeded-random.ts';

/** The reactions to the first attempt of a task; later ones are accepted. */
const manners = [
  ...(['accept', 'accept', 'accept', 'accept', 'answer in 8 s'] as const),
  ...(['fail', 'break off', 'break off after 4 s', 'answer in 18 s', 'answer twice'] as const),
] as const;
type Manner = (typeof manners)[number];

export type Receiver = {
  /** The address for the callbacks of a client. */
  urlOf(client: number): string;
  readonly seen: readonly SeenCallback[];
  /** The number of failures by kind. */
  readonly injected: ReadonlyMap<string, number>;
  close(): Promise<void>;
};

/** The clients' receiver on loopback: checks every signature with the public library, and is often bad at its job. */
export async function startReceiver(secretOf: (client: number) => string, random: Random): Promise<Receiver> {
  const seen: SeenCallback[] = [];
  const injected = new Map<string, number>();
  const known = new Set<string>();
  const server = await startRestartableServer(async (request, response) => {
    const body = await text(request);
    const record = recordIn(body);
    const manner = known.has(record.taskId) ? 'accept' : random.pick(manners);
    known.add(record.taskId);
    if (manner !== 'accept') injected.set(`receiver: ${manner}`, 1 + (injected.get(`receiver: ${manner}`) ?? 0));
    const isSigned = isValid(secretOf(Number(request.url?.slice(1))), request, body);
    const isAccepted = manner === 'accept' || manner === 'answer twice' || manner === 'answer in 8 s';
    seen.push({ taskId: record.taskId, isSigned, isAccepted, content: callbackContent(record) });
    behave(manner, response);
  });
  return {
    urlOf: (client) => `http://${server.address}/${client}`,
    seen,
    injected,
    close: server.close,
  };
}

/** The record in a callback's envelope, as recordInfo shows it; what is not there fails the check of its content. */
function recordIn(body: string): FinalTask {
  const envelope = JSON.parse(body) as { data: FinalTask };
  return envelope.data;
}

function isValid(secret: string, { headers }: IncomingMessage, body: string): boolean {
  const signed = Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  );
  try {
    new Webhook(secret).verify(body, signed);
    return true;
  } catch {
    return false;
  }
}

function behave(manner: Manner, response: ServerResponse): void {
  switch (manner) {
    case 'accept':
      response.writeHead(204).end();
      break;
    case 'fail':
      response.writeHead(500).end('no');
      break;
    case 'break off after 4 s':
      setTimeout(() => response.destroy(), 4_000).unref();
      break;
    case 'answer in 8 s':
      setTimeout(() => response.writeHead(204).end(), 8_000).unref();
      break;
    case 'answer in 18 s':
      // The service waits for 15 s at most.
      setTimeout(() => response.writeHead(204).end(), 18_000).unref();
      break;
    case 'break off':
      response.destroy();
      break;
    case 'answer twice':
      response.socket?.end('HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 500 Twice\r\nContent-Length: 0\r\n\r\n');
      break;
  }
}
