import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import getRawBody from 'raw-body';
import { type VerifiedCallback, verifyCallback } from '../../clients/typescript/src/index.ts';
import { closeServer, listenOnLoopback } from './local-files.ts';
import { CommandError } from './output.ts';

export type DemoReceiver = {
  readonly url: string;
  /** Waits for the callback of a task; throws when none came within 30 s, or one whose signature is wrong. */
  callbackFor(taskId: string): Promise<VerifiedCallback>;
  close(): Promise<void>;
};

const waitMs = 30_000;
const maxBodyBytes = 1024 * 1024;

/** A receiver as a client would write it, on loopback: the client package verifies each callback. */
export async function startDemoReceiver(secret: string): Promise<DemoReceiver> {
  const received = new Map<string, VerifiedCallback>();
  const faults: string[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await getRawBody(request, { limit: maxBodyBytes });
      const callback = await verifyCallback({ body, headers: request.headers, secrets: secret });
      received.set(callback.record.taskId, callback);
      response.writeHead(204).end();
    } catch (error) {
      faults.push(String(error));
      response.writeHead(400).end();
    }
  };
  const server = createServer((request, response) => {
    if (request.method === 'POST') void receive(request, response);
    else response.writeHead(404).end();
  });
  const url = await listenOnLoopback(server);
  return {
    url,
    callbackFor: async (taskId) => {
      for (const giveUpAt = Date.now() + waitMs; Date.now() < giveUpAt; await delay(20)) {
        const callback = received.get(taskId);
        if (callback !== undefined) return callback;
        if (faults.length > 0) break;
      }
      throw new CommandError(faults[0] ?? `No callback for task ${taskId} came within ${waitMs / 1000} s.`);
    },
    close: () => closeServer(server),
  };
}
