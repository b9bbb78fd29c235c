import { mkdir } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import {
  type Client,
  createClient,
  type TaskRecord,
  type TaskRequest,
  type VerifiedCallback,
  verifyCallback,
} from '../../clients/typescript/src/index.ts';
import { scopes } from '../domain/api-key.ts';
import { callbackSecretsOf } from '../main/account-secrets.ts';
import type { Settings } from '../main/settings.ts';
import { probeVideo } from '../media/probe-video.ts';
import { createSecretBox } from '../outbound/secrets.ts';
import { createAccount } from '../stores/accounts.ts';
import { createDatabase } from '../stores/database.ts';
import { createApiKey } from '../stores/keys.ts';
import { type GenerationOptions, withRequestBody } from './generation-options.ts';
import { saveVideo, serveOnLoopback } from './local-files.ts';
import { CommandError } from './output.ts';
import type { Story } from './story.ts';

const openingCredits = 1_000;
export type DemoResult = { readonly file: string; readonly made: TaskRecord; readonly refunded: TaskRecord };

type Stage = {
  readonly client: Client;
  readonly receiver: DemoReceiver;
  readonly story: Story;
  /** Ends what is waited for when the demo is broken off. */
  readonly signal: AbortSignal;
};

/** Two tasks, shown step by step: one is made, called back and paid, the other fails and is refunded. Throws at a broken promise. */
export async function showBothEndings(
  settings: Settings,
  { story, signal }: Pick<Stage, 'story' | 'signal'>,
  prompt: string,
  options: GenerationOptions,
): Promise<DemoResult> {
  const { key, secret } = await openAccount(settings);
  const receiver = await startDemoReceiver(secret);
  try {
    const stage = { client: createClient({ baseUrl: settings.publicUrl, key }), receiver, story, signal };
    story.step(`An account with ${openingCredits} credits and an API key`);
    const { file, record: made } = await showSuccess(stage, prompt, options);
    const refunded = await showRefund(stage);
    await showLedger(stage);
    return { file, made, refunded };
  } finally {
    await receiver.close();
  }
}

/** What an operator does for a client: an account, an API key, and the secret that signs its callbacks. */
async function openAccount(settings: Settings): Promise<{ key: string; secret: string }> {
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    const accountId = await createAccount(db, { name: 'demo', credits: openingCredits });
    const created = await createApiKey(db, { accountId, name: 'demo', scopes });
    const [secret] = await callbackSecretsOf(db, createSecretBox(settings.secret, settings.secretPrevious), accountId);
    if (created === undefined || secret === undefined) throw new CommandError('The key could not be made.');
    return { key: created.key, secret };
  } finally {
    await db.close();
  }
}

async function showSuccess(stage: Stage, prompt: string, options: GenerationOptions) {
  const { client, story } = stage;
  const record = await withRequestBody(prompt, options, (body) => runTask(stage, body));
  if (record.state !== 'success') throw new CommandError(`${record.failCode}: ${record.failMsg}`);
  await showCallback(stage, record);
  const folder = resolve('demo');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${record.taskId}.mp4`);
  await saveVideo(client, record.taskId, file);
  const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio, bytes } = await probeVideo(file);
  const sound = hasAudio ? 'stereo sound' : 'no sound';
  story.success(
    `The film stays when the service is removed:\n${pathToFileURL(file).href}\n${widthPx}×${heightPx}, ${durationSeconds.toFixed(2)} s, ${framesPerSecond} fps, ${sound}, ` +
      `${(bytes / 1e6).toFixed(1)} MB, made in ${((record.costTime ?? 0) / 1000).toFixed(1)} s`,
  );
  await expectBalance(client, openingCredits - record.creditsCharged);
  story.success(`${record.creditsCharged} credits charged, balance ${openingCredits - record.creditsCharged}`);
  return { file, record };
}

/** An image that does not exist: the task is accepted and charged, fails, and is refunded in full. */
async function showRefund(stage: Stage): Promise<TaskRecord> {
  const { client, story } = stage;
  story.step('Now a task that must fail, to show a refund: its reference image does not exist (404)');
  const { balance: before } = await client.credits();
  const imageUrls = [`${stage.receiver.url}/no-such-image.png`];
  const record = await runTask(stage, { model: 'videogen-2.0-fast', input: { prompt: 'never made', imageUrls } });
  if (record.state !== 'fail' || record.failCode !== 'image_unreachable') {
    throw new CommandError(
      `The task should have failed with image_unreachable, but is ${record.state} ${record.failCode}.`,
    );
  }
  if (record.creditsRefunded !== record.creditsCharged) throw new CommandError('The task was not refunded in full.');
  await showCallback(stage, record);
  await expectBalance(client, before);
  story.success(
    `Failed as meant: ${record.failMsg} A task that fails is free: its ${record.creditsCharged} credits came back with the ` +
      `failure, in one transaction. ${record.creditsRefunded} refunded, balance ${before}`,
  );
  return record;
}

async function runTask({ client, receiver, story, signal }: Stage, body: TaskRequest): Promise<TaskRecord> {
  const task = await client.createTask({ ...body, callBackUrl: `${receiver.url}/callback` });
  story.step(`createTask answered, ${task.creditsCharged} credits charged: task ${task.taskId}`);
  const record = await story.waitFor(client, task.taskId, signal);
  story.step(`recordInfo says ${record.state}`);
  return record;
}

async function showCallback({ receiver, story }: Stage, { taskId, state }: TaskRecord): Promise<void> {
  const callback = await receiver.callbackFor(taskId);
  if (callback.record.state !== state) throw new CommandError(`The callback said ${callback.record.state}.`);
  story.success(`Callback received, signature verified: ${callback.webhookId} says ${state}`);
}

async function expectBalance(client: Client, expected: number): Promise<void> {
  const { balance } = await client.credits();
  if (balance !== expected) throw new CommandError(`The balance is ${balance}, not ${expected}.`);
}

async function showLedger({ client, story }: Stage): Promise<void> {
  const { entries } = await client.credits();
  const lines = entries
    .toReversed()
    .map(({ kind, amount, balanceAfter, taskId }) =>
      [kind.padEnd(8), String(amount).padStart(6), String(balanceAfter).padStart(8), `  ${taskId ?? ''}`].join(''),
    );
  story.message(['The account’s ledger:', 'kind     amount balance', ...lines].join('\n'));
}

export type DemoReceiver = {
  readonly url: string;
  /** Waits for the callback of a task; throws when none came within 30 s, or one whose signature is wrong. */
  callbackFor(taskId: string): Promise<VerifiedCallback>;
  close(): Promise<void>;
};

const waitMs = 30_000;

/** A receiver as a client would write it, on loopback: the client package verifies each callback. */
export async function startDemoReceiver(secret: string): Promise<DemoReceiver> {
  const received = new Map<string, VerifiedCallback>();
  const faults: string[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await buffer(request);
      const callback = await verifyCallback({ body, headers: request.headers, secrets: secret });
      received.set(callback.record.taskId, callback);
      response.writeHead(204).end();
    } catch (error) {
      faults.push(String(error));
      response.writeHead(400).end();
    }
  };
  const { url, close } = await serveOnLoopback((request, response) => {
    if (request.method === 'POST') void receive(request, response);
    else response.writeHead(404).end();
  });
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
    close,
  };
}
