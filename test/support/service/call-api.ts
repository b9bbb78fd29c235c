import { waitFor } from '../wait-for.ts';

/** An answer of the API: HTTP status, headers and the envelope. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly code: number; readonly msg: string; readonly data: Readonly<Record<string, unknown>> };
};

export type Api = { readonly baseUrl: string; readonly key: string };

export function createTask(api: Api, request: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return post(api, '/api/v1/jobs/createTask', request, headers);
}

/** Creates a task with these prompt words or this whole input, and returns its id. Throws when the task is refused. */
export async function createdTask(
  api: Api,
  input: string | object,
  { model = 'videogen-2.0-fast', ...request }: { readonly model?: string; readonly callBackUrl?: string } = {},
): Promise<string> {
  const { status, body } = await createTask(api, {
    model,
    input: typeof input === 'string' ? { prompt: input, duration: 4 } : input,
    ...request,
  });
  if (status !== 200) throw new Error(`createTask returned ${status}: ${body.msg}`);
  return String(body.data['taskId']);
}

/** Waits until a task has ended, and returns its record. */
export function waitForRecord(api: Api, taskId: string): Promise<Answer['body']['data']> {
  return waitFor(`the end of task ${taskId}`, async () => {
    const { status, body } = await recordInfo(api, taskId);
    if (status !== 200) throw new Error(`recordInfo returned ${status}: ${body.msg}`);
    return body.data['completeTime'] === null ? undefined : body.data;
  });
}

/** The links to the video of a record. */
export function resultUrlsIn(record: Answer['body']['data']): readonly string[] {
  return (record['resultJson'] as { readonly resultUrls: readonly string[] }).resultUrls; // what a record has
}

export function post(api: Api, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(api, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

export function recordInfo(api: Api, taskId: string): Promise<Answer> {
  return call(api, `/api/v1/jobs/recordInfo?taskId=${encodeURIComponent(taskId)}`);
}

export async function call({ baseUrl, key }: Api, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(baseUrl + path, { ...init, headers, signal: AbortSignal.timeout(180_000) });
  // Every response of the API is the envelope; a test that gets something else fails when it reads it.
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, headers: response.headers, body };
}
