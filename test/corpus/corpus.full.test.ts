import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import pLimit from 'p-limit';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { sharp } from '../../src/media/pictures/restricted-sharp.ts';
import { formatOfBytes } from '../../src/media/references/file-format.ts';
import { runVideoReader } from '../../src/media/video/run-video-reader.ts';
import { fetchReferenceMedia } from '../../src/media/references/fetch-reference-media.ts';
import { readCatalogueOrThrow } from '../../src/catalogue/file/read-catalogue-file.ts';
import { parseAllowList } from '../../src/platform/outbound/guard/allow-list.ts';
import { createGuardedClient } from '../../src/platform/outbound/guarded-client.ts';
import { pinnedFfmpeg, taskInput } from '../providers/preview/render-support.ts';
import type { Answer } from '../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../support/service/http-service.ts';
import { kinds } from '../fakes/provider-kinds.ts';
import { corpus, type CorpusFile } from './corpus-table.ts';
import { openKind, type TakenFile } from './received-media.ts';
import { documentedMedia, typeOfFormat } from './vendors.ts';

// Sends every file of the corpus in every way, with a label that is not its own. One service is shared, and each file is made once.

const fields = { image: 'imageUrls', video: 'videoUrls', audio: 'audioUrls' } as const;
const clipBounds = { max: 1, maxSeconds: 5, maxMegabytes: 10 };
const input = {
  resolution: { values: ['720p'] },
  duration: { min: 4, max: 15 },
  ratio: { values: ['16:9'] },
  generateAudio: {},
  imageUrls: { max: 9 },
  videoUrls: clipBounds,
  audioUrls: clipBounds,
};
const catalogue = readCatalogueOrThrow({
  path: 'x',
  readText: () =>
    JSON.stringify({
      providers: { script: { kind: 'own', baseUrl: 'http://script.example' } },
      models: [
        {
          model: 'all-media',
          title: 'All',
          input,
          prices: [{ creditsPerSecond: 1 }],
          providers: ['script'],
          aliases: ['all'],
        },
      ],
    }),
});
const bounds = catalogue.models.get('all-media')?.input;

let service: HttpService;
let server: Server;
let folder: string;
let key: string;
const made = new Map<string, Buffer>();
/** The files that were taken from their URLs, as providers get them. */
const taken: TakenFile[] = [];
const client = createGuardedClient({ allow: parseAllowList('127.0.0.1'), lookup: () => Promise.resolve(['10.0.0.1']) });
const ffmpeg = pinnedFfmpeg();

/** Servers encode a file in these ways. */
const encodings = [
  ['identity', (bytes: Buffer) => bytes],
  ['gzip', gzipSync],
  ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['aws-chunked', (bytes: Buffer) => bytes],
  // Without a header, as a bucket serves a file that was stored compressed.
  [undefined, gzipSync],
] as const;

before(async () => {
  service = await startHttpService({ catalogue: () => catalogue });
  ({ key } = await service.newAccount(100_000));
  folder = await mkdtemp(join(tmpdir(), 'corpus-'));
  const limited = pLimit(2);
  const make = async (file: CorpusFile) =>
    made.set(idOf(file), await file.make({ ffmpeg, folder: await mkdtemp(join(folder, 'made-')) }));
  await Promise.all(corpus.map((file) => limited(make, file)));
  server = createServer((request, response) => {
    const index = Number(request.url?.slice(1));
    const [name, encode] = encodings[index % encodings.length] ?? assert.fail();
    const body = encode(bytesOf(corpus[index] ?? assert.fail()));
    const encoding = name === undefined ? {} : { 'content-encoding': name };
    response.writeHead(200, { 'content-type': 'text/plain', ...encoding }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(async () => {
  await client.close();
  server.close();
  server.closeAllConnections();
  await service.close();
  await rm(folder, { recursive: true });
});

const idOf = ({ kind, name }: CorpusFile) => `${kind}/${name}`;
const bytesOf = (file: CorpusFile) => made.get(idOf(file)) ?? assert.fail(`${file.name} was not made`);
const headers = (type?: string) => ({
  authorization: `Bearer ${key}`,
  ...(type !== undefined && { 'content-type': type }),
});

function formOf(bytes: Buffer, name: string) {
  const head = `--cut here\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nvision\r\n--cut here\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--cut here--\r\n')]);
  return { body, headers: headers('multipart/form-data; boundary="cut here"') };
}

function assertOutcome({ status, bytes }: Answer, { refused }: CorpusFile): void {
  const text = bytes.toString();
  assert.equal(status, refused === undefined ? 200 : 422, text);
  if (refused !== undefined) assert.match(text, refused);
}

describe('an upload is judged by its content', () => {
  for (const [index, file] of corpus.entries()) {
    test(`${file.kind} ${file.name}${file.refused ? ' is refused' : ''}`, async () => {
      const body = bytesOf(file);
      const label = [
        undefined,
        'application/octet-stream',
        'image/x-png',
        'video/x-m4v',
        'application/x-www-form-urlencoded',
      ][index % 5];
      const expected = file.isStored === true ? { ...file, refused: undefined as never } : file;
      const { send } = service;
      const sent = index % 2 === 0 ? { headers: headers(label), body } : formOf(body, file.name);
      const answer = await send('POST', '/api/v1/uploads', sent);
      assertOutcome(answer, expected);
      if (answer.status === 200) assert.equal(answer.json.data['kind'], file.kind);
    });
  }
});

describe('a URL is judged by its content', () => {
  for (const [index, file] of corpus.entries()) {
    test(`${file.kind} ${file.name}${file.refused ? ' is refused' : ''}`, async () => {
      const { port } = server.address() as { readonly port: number };
      const work = await mkdtemp(join(folder, 'attempt-'));
      const given = { ...taskInput(), [fields[file.kind]]: [`http://127.0.0.1:${port}/${index}`] };
      const signal = AbortSignal.timeout(600_000);
      const fetching = fetchReferenceMedia({
        input: given,
        bounds,
        ffmpeg,
        client,
        folder: work,
        signal,
      });
      if (file.refused !== undefined) {
        await assert.rejects(fetching, (error: Error) => {
          assert.match(error.message, new RegExp(`^input\\.${fields[file.kind]}\\[0\\] .*(?:${file.refused?.source})`));
          return true;
        });
        return;
      }
      const { images, videos, audios } = await fetching;
      const [found] = [...images, ...videos, ...audios];
      assert.ok(found);
      taken.push({ ...file, path: found.path });
      if (file.kind === 'image') {
        const { format, space, orientation, icc } = await sharp(await readFile(found.path)).metadata();
        assert.deepEqual([format, space, orientation, icc], ['jpeg', 'srgb', undefined, undefined]);
      } else assert.ok((await runVideoReader(`${file.kind}Clip`, found.path)) !== undefined);
    });
  }
});

describe('an upstream receives each file in a form that its documents allow', () => {
  // A job of cog lives in its request; test/providers/cog has what it gets.
  for (const [name, kind] of [...kinds].filter(([, { endsAlone }]) => endsAlone !== true)) {
    test(name, { skip: kind.skip ?? false }, async (t) => {
      const receive = await openKind(t, name, kind);
      const allowed = documentedMedia[name] ?? assert.fail(`${name} has no row`);
      assert.ok(taken.length >= 40);
      for (const file of taken) {
        const received = await receive(file);
        const about = `${file.kind} ${file.name}`;
        const limits = allowed[file.kind];
        assert.equal(received.length, limits === undefined ? 0 : 1, about);
        for (const { bytes, type } of received) {
          const format = formatOfBytes(bytes)?.name ?? 'unknown';
          assert.ok(limits !== undefined && limits.formats.includes(format), `${about}: ${format}`);
          assert.ok(type === undefined || type === typeOfFormat[format], `${about}: ${type}`);
          assert.ok(bytes.length <= limits.maxMegabytes * 1_000_000, `${about}: ${bytes.length}`);
        }
      }
    });
  }
});

/** A create of each API with a file inside. */
const shapes = {
  openai: [
    '/v1/videos',
    (url: string) => ({ model: 'all-media', prompt: 'a boat', seconds: '4', input_reference: url }),
  ],
  openrouter: [
    '/api/v1/videos',
    (url: string) => ({
      model: 'all-media',
      prompt: 'a boat',
      input_references: [{ type: 'image_url', image_url: { url } }],
    }),
  ],
  ark: [
    '/api/v3/contents/generations/tasks',
    (url: string) => ({
      model: 'all-media',
      content: [
        { type: 'text', text: 'a boat' },
        { type: 'image_url', image_url: { url }, role: 'reference_image' },
      ],
    }),
  ],
} as const;

/** Browsers, Python and Node write a file into a text in these ways. */
const spellings = [
  (base64: string) => `data:image/jpeg;base64,${base64}`,
  (base64: string) => `data:;base64,${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`,
  (base64: string) => ` Data:image/x-png;name=photo.png;BASE64,${base64}\n`,
  (base64: string) => `data:application/octet-stream;base64,${base64.match(/.{1,76}/g)?.join('\r\n')}\r\n`,
  (base64: string) => `data:image/jpeg;base64,${encodeURIComponent(base64)}`,
];

describe('a data URL is judged by its content', () => {
  const apis = Object.entries(shapes);
  for (const [index, file] of corpus.filter(({ kind }) => kind === 'image').entries()) {
    const [name, [path, bodyOf]] = apis[index % apis.length] ?? assert.fail();
    test(`${file.name} in the API ${name}${file.refused ? ' is refused' : ''}`, async () => {
      const spell = spellings[index % spellings.length] ?? assert.fail();
      const answer = await service.send('POST', path, {
        headers: headers('application/json'),
        body: JSON.stringify(bodyOf(spell(bytesOf(file).toString('base64')))),
      });
      const text = answer.bytes.toString();
      assert.equal(answer.status < 300, file.refused === undefined, text);
      if (file.refused !== undefined) assert.match(text, file.refused);
    });
  }
});
