import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { fakeVideoPath, type RestartableServer, startRestartableServer } from './restartable-server.ts';

// A FAKE: a server that keeps every rule of docs/providers/own.md, unless a test breaks one. A job ends when its record is asked
// for the third time.

export type Asked = {
  readonly method: string;
  readonly id: string;
  readonly isVideo: boolean;
  readonly body: string;
  readonly hasKey: boolean;
  readonly first: number | undefined;
};

export type Told = {
  readonly status: number;
  readonly body: object | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends with the connection, without a content length. */
  readonly isEndless?: boolean;
};

export type FakeJob = { status: string; readonly body: string; gets: number; puts: number; deletes: number };

/** Responds instead of the server, whose response `tell` returns; `job` is the job before the request. */
export type Break = (
  asked: Asked,
  tell: (other?: Partial<Asked>) => Told,
  server: { readonly job: FakeJob | undefined; readonly jobs: Map<string, FakeJob>; readonly video: Buffer },
) => Told;

export type ProtocolServer = RestartableServer & { readonly jobs: ReadonlyMap<string, FakeJob> };

const pathPattern = /^\/jobs\/([0-9a-f-]{36})(\/video)?$/;

export async function startProtocolServer({
  key,
  broken = (_asked, tell) => tell(),
}: {
  readonly key?: string;
  readonly broken?: Break;
}): Promise<ProtocolServer> {
  const jobs = new Map<string, FakeJob>();
  const video = await readFile(fakeVideoPath);
  const server = await startRestartableServer(async (request, response) => {
    const asked = await askedIn(request, key);
    const tell = (other: Partial<Asked> = {}) => told({ ...asked, ...other }, jobs, video);
    send(response, broken(asked, tell, { job: jobs.get(asked.id), jobs, video }));
  });
  return { ...server, jobs };
}

async function askedIn(request: IncomingMessage, key: string | undefined): Promise<Asked> {
  const [, id = '', video] = pathPattern.exec(request.url ?? '') ?? [];
  const [, first] = /^bytes=(\d+)-$/.exec(request.headers.range ?? '') ?? [];
  return {
    method: request.method ?? '',
    id,
    isVideo: video !== undefined,
    body: await text(request),
    hasKey: key === undefined || request.headers.authorization === `Bearer ${key}`,
    first: first === undefined ? undefined : Number(first),
  };
}

function told(asked: Asked, jobs: Map<string, FakeJob>, video: Buffer): Told {
  const { method, id, isVideo, body } = asked;
  if (!asked.hasKey) return refusal(401, 'unauthorized');
  if (method === 'PUT' && !jobs.has(id)) {
    if (versionOf(body) !== 2) return refusal(400, 'input_invalid');
    jobs.set(id, { status: 'running', body, gets: 0, puts: 1, deletes: 0 });
    return { status: 201, body: recordOf(id, jobs) };
  }
  const job = jobs.get(id);
  if (job === undefined || (isVideo && job.status !== 'succeeded')) return refusal(404, 'not_found');
  if (isVideo) return videoFrom(asked.first, video);
  if (method === 'PUT') job.puts += 1;
  if (method === 'GET' && ++job.gets > 2 && job.status === 'running') job.status = 'succeeded';
  if (method === 'DELETE') {
    job.deletes += 1;
    if (job.status === 'running') job.status = 'canceled';
  }
  return { status: 200, body: recordOf(id, jobs) };
}

/** Undefined also for a body that is no JSON. */
export function versionOf(body: string): unknown {
  try {
    return (JSON.parse(body) as { readonly version?: unknown }).version; // the client sends objects
  } catch {
    return undefined;
  }
}

export function recordOf(id: string, jobs: ReadonlyMap<string, FakeJob>): object {
  const { status } = jobs.get(id) ?? {};
  const cost = status === 'succeeded' ? { micros: 40_000, currency: 'USD' } : null;
  return { id, status, progress: status === 'succeeded' ? 100 : 40, error: null, cost };
}

export function refusal(status: number, code: string): Told {
  return { status, body: { error: { code, message: `the fake answers ${code}` } } };
}

function videoFrom(first: number | undefined, video: Buffer): Told {
  if (first === undefined) return { status: 200, body: video };
  const headers = { 'content-range': `bytes ${first}-${video.length - 1}/${video.length}` };
  return { status: 206, body: video.subarray(first), headers };
}

function send(response: ServerResponse, { status, body, headers = {}, isEndless = false }: Told): void {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  if (isEndless) response.useChunkedEncodingByDefault = false;
  const length = isEndless ? {} : { 'content-length': String(bytes.length) };
  response.writeHead(status, { ...headers, ...length });
  response.write(bytes);
  response.end();
}
