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
} from '../../../../clients/typescript/src/index.ts';
import { scopes } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import { ensureSigningSecrets } from '../../../tasks/callbacks/signing-secrets.ts';
import type { CompleteSettings } from '../../config/complete-settings-and-derived-values.ts';
import { checkAndMeasureVideo } from '../../../media/video/check-and-measure-video.ts';
import { createSecretBox } from '../../../platform/secrets/secret-box.ts';
import { createAccount } from '../../../credits/open-account.ts';
import { createDatabase } from '../../../platform/database/database.ts';
import { createKeyUnchecked } from '../../../accounts/keys/keys.ts';
import { type GenerationOptions, withBuiltTaskRequest } from '../generate/generation-options-and-task-request.ts';
import { saveVideo, serveOnLoopback } from '../generate/serve-media-and-save-video.ts';
import { CommandError, alignColumns } from '../command-output-and-errors.ts';
import type { ProgressPrinter } from './progress-printer.ts';

const openingCredits = 1_000;

type Stage = {
  readonly client: Client;
  readonly receiver: DemoReceiver;
  readonly story: ProgressPrinter;
  readonly signal: AbortSignal;
};

/** Runs two tasks step by step: one succeeds and is paid, the other fails and is refunded. Throws if a result is not as documented. */
export async function runSuccessAndRefundDemo(
  settings: CompleteSettings,
  { story, signal }: Pick<Stage, 'story' | 'signal'>,
  prompt: string,
  options: GenerationOptions,
) {
  const { key, secret } = await openAccount(settings);
  const receiver = await startDemoReceiver(secret);
  try {
    const stage = { client: createClient({ baseUrl: settings.publicUrl, key }), receiver, story, signal };
    story.step(`Created an account with ${openingCredits} credits and an API key`);
    const { file, record: made } = await showSuccess(stage, prompt, options);
    const refunded = await showRefund(stage);
    await showLedger(stage);
    return { file, made, refunded };
  } finally {
    await receiver.close();
  }
}

async function openAccount(settings: CompleteSettings): Promise<{ key: string; secret: string }> {
  const db = createDatabase({ url: settings.databaseUrl, poolSize: 1 });
  try {
    const accountId = await createAccount(db, { name: 'demo', credits: openingCredits });
    const created = await createKeyUnchecked(db, { accountId, name: 'demo', scopes });
    const [secret] = await ensureSigningSecrets(
      db,
      createSecretBox(settings.secret, settings.secretPrevious),
      accountId,
    );
    if (created === undefined || secret === undefined) throw new CommandError('the API key could not be created');
    return { key: created.key, secret };
  } finally {
    await db.close();
  }
}

async function showSuccess(stage: Stage, prompt: string, options: GenerationOptions) {
  const { client, story } = stage;
  const record = await withBuiltTaskRequest(prompt, options, (body) => runTask(stage, body));
  if (record.state !== 'success') throw new CommandError(`${record.failCode}: ${record.failMsg}`);
  await showCallback(stage, record);
  const folder = resolve('demo');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${record.taskId}.mp4`);
  await saveVideo(client, record.taskId, file);
  const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio, bytes } = await checkAndMeasureVideo(file);
  const facts = [
    `${widthPx}×${heightPx}`,
    `${durationSeconds.toFixed(2)} s`,
    `${framesPerSecond} fps`,
    hasAudio ? 'stereo sound' : 'no sound',
    `${(bytes / 1e6).toFixed(1)} MB`,
    `generated in ${((record.costTime ?? 0) / 1000).toFixed(1)} s`,
  ];
  story.success(`Video saved; it stays after the demo:\n${pathToFileURL(file).href}\n${facts.join(', ')}`);
  const balance = openingCredits - record.creditsCharged;
  await expectBalance(client, balance);
  story.success(`${record.creditsCharged} credits charged, balance ${balance}`);
  return { file, record };
}

/** The reference image does not exist: the task is accepted and charged, fails, and is refunded in full. */
async function showRefund(stage: Stage): Promise<TaskRecord> {
  const { client, story } = stage;
  story.step('Creating a task that must fail: its reference image does not exist (404)');
  const { balance: before } = await client.credits();
  const imageUrls = [`${stage.receiver.url}/no-such-image.png`];
  const record = await runTask(stage, { model: 'videogen-2.0-fast', input: { prompt: 'never made', imageUrls } });
  const { state, failCode, failMsg, creditsCharged, creditsRefunded } = record;
  if (state !== 'fail' || failCode !== 'image_unreachable')
    throw new CommandError(`expected the task to fail with image_unreachable, not ${state} ${failCode}`);
  if (creditsRefunded !== creditsCharged) throw new CommandError('the task was not refunded in full');
  await showCallback(stage, record);
  await expectBalance(client, before);
  story.success(
    `Failed as expected: ${failMsg} Failed tasks are free: ${creditsRefunded} credits were refunded in the transaction of the failure. Balance ${before}`,
  );
  return record;
}

async function runTask({ client, receiver, story, signal }: Stage, body: TaskRequest): Promise<TaskRecord> {
  const task = await client.createTask({ ...body, callBackUrl: `${receiver.url}/callback` });
  story.step(`createTask returned task ${task.taskId}, ${task.creditsCharged} credits charged`);
  const record = await story.waitFor(client, task.taskId, signal);
  story.step(`recordInfo returned state ${record.state}`);
  return record;
}

async function showCallback({ receiver, story }: Stage, { taskId, state }: TaskRecord): Promise<void> {
  const callback = await receiver.callbackFor(taskId);
  if (callback.record.state !== state) throw new CommandError(`the callback has state ${callback.record.state}`);
  story.success(`Callback ${callback.webhookId} received with state ${state}, signature verified`);
}

async function expectBalance(client: Client, expected: number): Promise<void> {
  const { balance } = await client.credits();
  if (balance !== expected) throw new CommandError(`the balance is ${balance}, not ${expected}`);
}

async function showLedger({ client, story }: Stage): Promise<void> {
  const { entries } = await client.credits();
  const rows = entries.map(({ kind, amount, balanceAfter, taskId }) => [
    kind,
    String(amount).padStart(6),
    String(balanceAfter).padStart(7),
    taskId ?? '',
  ]);
  story.message(
    ['Ledger of the account:', ...alignColumns(['kind', 'amount', 'balance', ''], rows.toReversed())].join('\n'),
  );
}

type DemoReceiver = Awaited<ReturnType<typeof startDemoReceiver>>;

const waitMs = 30_000;

/** Starts a receiver on loopback, as a client would write it: the client package verifies each callback. */
async function startDemoReceiver(secret: string) {
  const received = new Map<string, VerifiedCallback>();
  const errors: string[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = await buffer(request);
      const callback = await verifyCallback({ body, headers: request.headers, secrets: secret });
      received.set(callback.record.taskId, callback);
      response.writeHead(204).end();
    } catch (error) {
      errors.push(String(error));
      response.writeHead(400).end();
    }
  };
  const { url, close } = await serveOnLoopback((request, response) => {
    if (request.method === 'POST') void receive(request, response);
    else response.writeHead(404).end();
  });
  return {
    url,
    /** Waits for the callback of a task; throws after 30 s, or if a signature is invalid. */
    callbackFor: async (taskId: string): Promise<VerifiedCallback> => {
      for (const until = Date.now() + waitMs; Date.now() < until; await delay(20)) {
        const callback = received.get(taskId);
        if (callback !== undefined) return callback;
        if (errors.length > 0) break;
      }
      throw new CommandError(errors[0] ?? `no callback for task ${taskId} arrived within ${waitMs / 1000} s`);
    },
    close,
  };
}
