import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReceivedCallback } from '../servers/callback-receiver.ts';
import { waitFor } from '../wait-for.ts';

/** The fields that clients of that API read. */
export type KieAnswer = { readonly code: number; readonly msg: string; readonly data: unknown };
export type KieRecord = Readonly<Record<string, unknown>> & { readonly state: string; readonly resultJson: string };

/** A client written for the API that ours descends from, as its documentation teaches. */
export function createKieClient({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }) {
  const ask = async (method: string, path: string, body?: unknown): Promise<KieAnswer> => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(baseUrl + path, { method, headers, ...text, signal: AbortSignal.timeout(180_000) });
    return (await response.json()) as KieAnswer; // such a client validates nothing
  };
  const recordInfo = (taskId: string) => ask('GET', `/api/v1/jobs/recordInfo?taskId=${encodeURIComponent(taskId)}`);
  return {
    key,
    ask,
    recordInfo,
    /** Creates a task and answers its id; throws what a client would show. */
    createTask: async (request: unknown): Promise<string> => {
      const { code, msg, data } = await ask('POST', '/api/v1/jobs/createTask', request);
      if (code !== 200) throw new Error(`${code}: ${msg}`);
      return (data as { taskId: string }).taskId; // as above
    },
    /** Polls until the task is over. */
    waitForEnd: (taskId: string) =>
      waitFor('the end of the task', async () => {
        const record = (await recordInfo(taskId)).data as KieRecord; // as above
        return record.state === 'success' || record.state === 'fail' ? record : undefined;
      }),
  };
}

export type KieClient = ReturnType<typeof createKieClient>;

/** Parses the videos of a record as those clients do. */
export function resultUrlsOf({ resultJson }: { readonly resultJson: unknown }): readonly string[] {
  if (typeof resultJson !== 'string') throw new TypeError('the JSON object must be str, bytes or bytearray');
  return (JSON.parse(resultJson) as { resultUrls: string[] }).resultUrls; // as above
}

/** Their verification of a callback, with the key as it stands in their settings. */
export function isFromKie({ headers, body }: ReceivedCallback, key: string): boolean {
  const { taskId } = (JSON.parse(body) as { data: { taskId: string } }).data; // as above
  const timestamp = String(headers['x-webhook-timestamp']);
  const expected = Buffer.from(createHmac('sha256', key).update(`${taskId}.${timestamp}`).digest('base64'));
  const received = Buffer.from(String(headers['x-webhook-signature']));
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  return isFresh && expected.length === received.length && timingSafeEqual(expected, received);
}
