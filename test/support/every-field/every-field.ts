import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { convertClip } from '../../../src/media/ffmpeg/convert-clip.ts';
import { reencodeJpegPngOrWebp } from '../../../src/media/pictures/reencode-jpeg-png-webp.ts';
import { type FieldName, mediaFields } from '../../../src/catalogue/input/task-input.ts';
import { startRestartableServer } from '../../fakes/restartable-server.ts';
import { pinnedFfmpeg } from '../../providers/preview/render-support.ts';
import { clips } from '../hostile/hostile-clips.ts';
import { plainImage } from '../hostile/hostile-images.ts';

// One value of every field of the vocabulary, and the media that clients and upstreams get for it.

/** The bounds that a model declares, and a value that is not the default. A new field does not compile until it has both. */
export const everyField = {
  prompt: { bounds: {}, value: 'the prompt' },
  negativePrompt: { bounds: {}, value: 'fog' },
  resolution: { bounds: { values: ['480p', '720p'], default: '720p' }, value: '480p' },
  duration: { bounds: { min: 5, max: 10 }, value: 7 },
  ratio: { bounds: { values: ['16:9', '9:16'] }, value: '9:16' },
  generateAudio: { bounds: { default: true }, value: false },
  imageUrls: { bounds: { max: 1 }, value: ['image'] },
  firstFrameUrl: { bounds: {}, value: 'first' },
  lastFrameUrl: { bounds: {}, value: 'last' },
  videoUrls: { bounds: { max: 1 }, value: ['video'] },
  audioUrls: { bounds: { max: 1 }, value: ['audio'] },
  seed: { bounds: {}, value: 42 },
  options: {
    bounds: {
      cameraFixed: { type: 'boolean', default: false },
      style: { type: 'string', values: ['natural', 'anime'], default: 'natural' },
    },
    value: { cameraFixed: true },
  },
} as const satisfies Readonly<Record<FieldName, { readonly bounds: object; readonly value: unknown }>>;

/** Every record shows these fields, so a model that does not take one of them declares its only value. */
export const leftOut: Readonly<Partial<Record<FieldName, object>>> = {
  resolution: { values: ['720p'] },
  duration: { values: [5] },
  ratio: { values: ['16:9'] },
  generateAudio: { fixed: true },
};

/** The defaults of the model, as a record shows them. */
export const defaults: Readonly<Partial<Record<FieldName, unknown>>> = {
  resolution: '720p',
  duration: 5,
  ratio: '16:9',
  generateAudio: true,
  imageUrls: [],
};

/** Their sizes and colors differ, so that no upstream gets one instead of another unnoticed. Frames of different shapes are refused. */
const pictures: Readonly<Record<string, Parameters<typeof plainImage>>> = {
  first: [640, 360, { r: 220, g: 30, b: 40 }],
  image: [480, 320, { r: 30, g: 200, b: 40 }],
  last: [700, 400, { r: 30, g: 40, b: 220 }],
};

export type Media = {
  /** The server from which the service fetches the media of clients. */
  readonly address: string;
  /** The media as upstreams get them, by name. */
  readonly copies: ReadonlyMap<string, Buffer>;
  close(): Promise<void>;
};

export async function startMedia(): Promise<Media> {
  const folder = await mkdtemp(join(tmpdir(), 'every-field-'));
  const sources = new Map<string, Buffer>();
  const copies = new Map<string, Buffer>();
  for (const [name, picture] of Object.entries(pictures)) {
    const source = await plainImage(...picture)
      .png()
      .toBuffer();
    sources.set(name, source);
    copies.set(name, (await reencodeJpegPngOrWebp(source)).jpeg);
  }
  for (const [name, clip, demuxer, limits] of [
    ['video', 'film.mp4', 'mov', { maxSeconds: 60, maxMegabytes: 100, maxPixels: 8_294_400 }],
    ['audio', 'sound.mp3', 'mp3', { maxSeconds: 60, maxMegabytes: 30 }],
  ] as const) {
    const [ffmpeg, { signal }] = [pinnedFfmpeg(), new AbortController()];
    await ffmpeg({ args: [...clips[clip], clip], cwd: folder, signal });
    const [fetchedPath, path] = [join(folder, clip), join(folder, `copy-of-${name}`)];
    await convertClip({ ffmpeg, kind: name, demuxer, limits, fetchedPath, path, signal });
    sources.set(name, await readFile(fetchedPath));
    copies.set(name, await readFile(path));
  }
  assert.equal(new Set([...copies.values()].map(({ length }) => length)).size, copies.size);
  const server = await startRestartableServer(async (request, response) => {
    response.end(sources.get(request.url?.slice(1) ?? ''));
  });
  return {
    address: server.address,
    copies,
    close: async () => {
      await server.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** The value that a client sends. */
export function valueFor(field: FieldName, { address }: Media): unknown {
  const { value } = everyField[field];
  if (!mediaFields.some(({ name }) => name === field)) return value;
  const url = (name: unknown) => `http://${address}/${String(name)}`;
  return Array.isArray(value) ? value.map(url) : url(value);
}

/** Replaces the media in a request by their names, after `link` or `file`. A link is fetched, as the upstream would. */
export async function withNames(
  value: unknown,
  { copies }: Media,
  nameOfFile: (text: string) => string | undefined = () => undefined,
): Promise<unknown> {
  const nameOf = (bytes: Buffer) =>
    [...copies].find(([, copy]) => copy.equals(bytes))?.[0] ?? `unknown, ${bytes.length} bytes`;
  const named = async (one: unknown): Promise<unknown> => {
    if (Array.isArray(one)) return await Promise.all(one.map(named));
    if (typeof one === 'object' && one !== null) {
      const fields = Object.entries(one).map(async ([name, inner]) => [name, await named(inner)] as const);
      return Object.fromEntries(await Promise.all(fields));
    }
    if (typeof one !== 'string') return one;
    const [, type, base64] = /^data:([^;]+);base64,(.*)$/.exec(one) ?? [];
    if (base64 !== undefined) return `${type} ${nameOf(Buffer.from(base64, 'base64'))}`;
    if (/^http.*\/media\//.test(one)) return `link ${nameOf(Buffer.from(await (await fetch(one)).arrayBuffer()))}`;
    return nameOfFile(one) ?? one;
  };
  return await named(value);
}

/** Identifies a file by its number of bytes, for upstreams that record nothing else of it. */
export function nameOfSize(bytes: unknown, { copies }: Media): string {
  return `file ${[...copies].find(([, copy]) => copy.length === bytes)?.[0] ?? `unknown, ${String(bytes)} bytes`}`;
}

/** The parts of a request together: maps field by field, and lists one after the other. */
export function joined(parts: readonly object[]): object {
  return parts.reduce((before: object, part) => joinedPair(before, part) as object, {});
}

function joinedPair(before: unknown, part: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(part)) return [...(before as unknown[]), ...(part as unknown[])];
  if (typeof before !== 'object' || typeof part !== 'object' || before === null || part === null) return part;
  const fields = Object.entries(part).map(([name, value]) => {
    return [name, joinedPair((before as Readonly<Record<string, unknown>>)[name], value)] as const;
  });
  return { ...before, ...Object.fromEntries(fields) };
}
