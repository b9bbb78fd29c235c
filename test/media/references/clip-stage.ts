import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach } from 'node:test';
import { FilePathSource, Input, MP3, MP4 } from 'mediabunny';
import { TaskError } from '../../../src/catalogue/tasks/task-error.ts';
import type { ClipLimits } from '../../../src/media/ffmpeg/convert-clip.ts';
import { fetchReferenceClips } from '../../../src/media/references/fetch-reference-clips.ts';
import { parseAllowList } from '../../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../../src/platform/outbound/guarded-client.ts';
import * as hostile from '../../support/hostile/hostile-clips.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import type { FfmpegRunner } from '../../../src/catalogue/media/ffmpeg-runner-types.ts';

// Reference clips behind a server of the test, made by ffmpeg once for a test file in a process of its own.

export type Kind = 'video' | 'audio';
export const limits: Record<Kind, ClipLimits> = {
  video: { maxMegabytes: 1, maxSeconds: 2, maxPixels: 200 * 100 },
  audio: { maxMegabytes: 1, maxSeconds: 2 },
};

export const ffmpeg = pinnedFfmpeg();
export const never: FfmpegRunner = async () => assert.fail('ffmpeg was not to be run');
export const client = createGuardedClient({
  allow: parseAllowList('127.0.0.1'),
  lookup: () => Promise.resolve(['10.0.0.1']),
});

/** The server that clips are fetched from. */
export const source: { answer: (response: ServerResponse) => void; requests: number } = {
  answer: (response) => void response.end(),
  requests: 0,
};
let server: Server;
export let made: string;
/** The folder of the last fetch. */
export let folder: string;
export let root: string;

before(async () => {
  server = createServer((_request, response) => {
    source.requests += 1;
    source.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  made = await mkdtemp(join(tmpdir(), 'hostile-clips-'));
  const { signal } = new AbortController();
  for (const [name, args] of Object.entries(hostile.clips)) await ffmpeg({ args: [...args, name], cwd: made, signal });
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'reference-clip-'));
  source.requests = 0;
});
afterEach(() => rm(root, { recursive: true }));
after(async () => {
  await client.close();
  server.closeAllConnections();
  server.close();
  await rm(made, { recursive: true });
});

export function origin(): string {
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}`;
}

export const clip = (name: hostile.ClipName) => readFile(join(made, name));
export const fieldOf = (kind: Kind) => `input.${kind}Urls[0]`;

type Fetch = {
  readonly kind: Kind;
  readonly url?: string;
  readonly ffmpeg?: FfmpegRunner;
  readonly signal?: AbortSignal;
  readonly limits?: Partial<ClipLimits>;
};

export async function fetchClip({ kind, url = `${origin()}/clip.txt`, ...changed }: Fetch) {
  // Each attempt has its own folder.
  folder = await mkdtemp(join(root, 'attempt-'));
  const { signal } = new AbortController();
  const sources = [{ url, path: fieldOf(kind) }];
  const settings = { client, ffmpeg, folder, signal, ...changed, limits: { ...limits[kind], ...changed.limits } };
  const [fetched] = await fetchReferenceClips({ ...settings, kind, sources });
  assert.ok(fetched);
  return fetched;
}

export async function fetchBytes(bytes: Buffer, given: Fetch) {
  source.answer = (response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(bytes);
  return await fetchClip(given);
}

export const isRefused = (failCode: string, message: string) => (error: unknown) => {
  assert.ok(error instanceof TaskError, String(error));
  assert.deepEqual([error.failCode, error.message, error.retryable], [failCode, message, false]);
  return true;
};

export async function assertInvalid(kind: Kind, bytes: Buffer, why: string, given: Partial<Fetch> = {}) {
  await assert.rejects(fetchBytes(bytes, { kind, ...given }), isRefused('media_invalid', `${fieldOf(kind)} ${why}.`));
}

export async function codecsOf(path: string) {
  const input = new Input({ formats: [MP4, MP3], source: new FilePathSource(path) });
  try {
    return await Promise.all((await input.getTracks()).map((track) => track.getCodec()));
  } finally {
    input.dispose();
  }
}
