import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { CommandError } from './output.ts';

/** An answer of the service other than 200: its code and message, as the envelope carried them. */
export class ApiError extends CommandError {
  readonly code: number;

  constructor(code: number, message: string) {
    super(`The service answered ${code}: ${message}`);
    this.code = code;
  }
}

export type ApiTarget = { readonly baseUrl: string; readonly key: string };

const envelope = z.object({ code: z.number(), msg: z.string(), data: z.unknown() });
const created = z.object({ taskId: z.string(), creditsCharged: z.number() });
const record = z.object({
  taskId: z.string(),
  state: z.enum(['waiting', 'queuing', 'generating', 'success', 'fail']),
  progress: z.number(),
  resultJson: z.object({ resultUrls: z.array(z.string()) }),
  failCode: z.string().nullable(),
  failMsg: z.string().nullable(),
  creditsCharged: z.number(),
  creditsRefunded: z.number(),
  costTime: z.number().nullable(),
});
export type ShownRecord = z.output<typeof record>;

const callLimitMs = 30_000;
const pollMs = 250;
/** Repeats of a call that got no answer, or 429 or 503: enough for a restart of the service. */
const maxTries = 6;

/** Creates a task. The idempotency key is made once, so that repeating a lost call cannot pay for a second task. */
export async function createTask(target: ApiTarget, body: unknown): Promise<z.output<typeof created>> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
  const answer = await call(target, '/api/v1/jobs/createTask', { method: 'POST', headers, body: JSON.stringify(body) });
  return created.parse(answer);
}

/** Polls until the task has ended; `onRecord` sees every answer on the way. */
export async function waitForTask(
  target: ApiTarget,
  taskId: string,
  onRecord: (record: ShownRecord) => void,
): Promise<ShownRecord> {
  for (;;) {
    const shown = record.parse(await call(target, `/api/v1/jobs/recordInfo?taskId=${encodeURIComponent(taskId)}`, {}));
    onRecord(shown);
    if (shown.state === 'success' || shown.state === 'fail') return shown;
    await delay(pollMs);
  }
}

/** Downloads a result to `path`, which appears only when it is complete. */
export async function download(url: string, path: string): Promise<void> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10 * 60_000) });
  if (!response.ok || response.body === null) throw new CommandError(`The video's link answered ${response.status}.`);
  const partial = `${path}.part`;
  await pipeline(Readable.fromWeb(response.body), createWriteStream(partial));
  await rename(partial, path);
}

async function call({ baseUrl, key }: ApiTarget, path: string, init: RequestInit): Promise<unknown> {
  const url = baseUrl.replace(/\/+$/, '') + path;
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  for (let tries = 1; ; tries += 1) {
    const response = await tryFetch(url, { ...init, headers });
    const isLast = tries >= maxTries;
    if (response instanceof Error) {
      if (isLast) throw new CommandError(`${url} cannot be reached: ${reasonOf(response)}`);
      await delay(500 * tries);
    } else if (!isLast && (response.status === 429 || response.status === 503)) {
      await delay(1000 * Math.min(30, Number(response.headers.get('retry-after')) || tries));
    } else return dataOf(response);
  }
}

async function tryFetch(url: string, init: RequestInit): Promise<Response | Error> {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(callLimitMs) });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** fetch says only "fetch failed"; what went wrong is in the cause. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message || error.cause.name : error.message;
}

async function dataOf(response: Response): Promise<unknown> {
  const parsed = envelope.safeParse(await response.json().catch(() => undefined));
  if (!parsed.success) throw new CommandError(`${response.url} answered ${response.status}, but is not Videogen.`);
  if (parsed.data.code !== 200) throw new ApiError(parsed.data.code, parsed.data.msg);
  return parsed.data.data;
}
