import { createServer, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { closeServer, listenOnLoopback } from './local-files.ts';
import { CommandError } from './output.ts';

export type ReceivedCallback = { readonly webhookId: string; readonly state: string };

export type DemoReceiver = {
  readonly url: string;
  /** Waits for the callback of a task; throws when none came within 30 s, or one whose signature is wrong. */
  callbackFor(taskId: string): Promise<ReceivedCallback>;
  close(): Promise<void>;
};

const body = z.object({ data: z.object({ taskId: z.string(), state: z.string() }) });
const waitMs = 30_000;
const maxBodyBytes = 1024 * 1024;

/** A receiver as a client would write it, on loopback: verifies each callback with the Standard Webhooks library. */
export async function startDemoReceiver(secret: string): Promise<DemoReceiver> {
  const webhook = new Webhook(secret);
  const received = new Map<string, ReceivedCallback>();
  const faults: string[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    receive(webhook, request).then(
      (callback) => {
        received.set(callback.taskId, callback);
        response.writeHead(204).end();
      },
      (error: unknown) => {
        faults.push(String(error));
        response.writeHead(400).end();
      },
    );
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

async function receive(webhook: Webhook, request: IncomingMessage): Promise<ReceivedCallback & { taskId: string }> {
  const text = await textOf(request);
  const header = (name: string) => String(request.headers[name]);
  const headers = {
    'webhook-id': header('webhook-id'),
    'webhook-timestamp': header('webhook-timestamp'),
    'webhook-signature': header('webhook-signature'),
  };
  const { data } = body.parse(webhook.verify(text, headers));
  return { webhookId: headers['webhook-id'], ...data };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.from(chunk as Uint8Array); // an IncomingMessage without an encoding yields Buffers
    bytes += part.length;
    if (bytes > maxBodyBytes) throw new Error('the callback is too large');
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
