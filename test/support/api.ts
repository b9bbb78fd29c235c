/** An answer of the API: HTTP status, headers and the envelope. */
export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly code: number; readonly msg: string; readonly data: Readonly<Record<string, unknown>> };
};

export type Api = { readonly baseUrl: string; readonly key: string };

export function createTask(api: Api, request: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return call(api, '/api/v1/jobs/createTask', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  });
}

export function recordInfo(api: Api, taskId: string): Promise<Answer> {
  return call(api, `/api/v1/jobs/recordInfo?taskId=${encodeURIComponent(taskId)}`);
}

export async function call({ baseUrl, key }: Api, path: string, init: RequestInit = {}): Promise<Answer> {
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${key}`);
  const response = await fetch(baseUrl + path, { ...init, headers, signal: AbortSignal.timeout(180_000) });
  // Every answer of the API is the envelope; a test that gets something else fails on its first look at it.
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, headers: response.headers, body };
}
