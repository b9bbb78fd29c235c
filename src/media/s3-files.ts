import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  NotFound,
  paginateListObjectsV2,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BucketLocation } from '../domain/store-location.ts';
import { errorCode } from '../domain/errors.ts';
import { contentTypeOf, requireMediaFolder, requireMediaKey, requireMoves } from './media-key.ts';
import type { MediaFiles, MediaSource, OpenedLink, StoredFile } from './result-store.ts';
import { asked, askedFor, createS3Client, refusalOf, type S3Settings } from './s3-client.ts';

export type S3Options = { readonly location: BucketLocation; readonly s3: S3Settings };

type Bucket = { readonly client: S3Client; readonly location: BucketLocation };

/** Of one upload: so many parts of this size are in memory, and each is sent again by itself when it fails. */
const partBytes = 8 * 1024 * 1024;
const partsAtATime = 2;

/** Copies for upstreams, some of which follow no redirect. */
const streamedFolder = 'images/';

/** Keeps files in a bucket. An object appears there whole or not at all, so no reader sees a part of one. */
export function createS3Files({ location, s3 }: S3Options): MediaFiles {
  const bucket = { client: createS3Client(s3), location };
  // Once in a process, before its first write.
  let swept: Promise<void> | undefined;
  return {
    put: async (key, filePath) => {
      const ContentType = contentTypeOf(requireMediaKey(key)) ?? '';
      // A missing file is the caller's fault, not the store's.
      await stat(filePath);
      await (swept ??= sweepUploads(bucket).catch(() => undefined));
      await uploadFile(bucket, { ...objectOf(bucket, key), ContentType }, filePath);
    },
    fetchTo: async (key, filePath) => fetchObject(bucket, requireMediaKey(key), filePath),
    move: async (moves) => {
      for (const { from, to } of requireMoves(moves)) await copyObject(bucket, from, to);
      for (const { from } of moves) await deleteObject(bucket, from);
    },
    delete: (key) => deleteObject(bucket, key),
    deleteFolder: async (folder) => {
      for await (const name of objectNames(bucket, folder)) await deleteObject(bucket, name.key);
    },
    sizeOf: (key) => sizeOf(bucket, key),
    uploadLink: (key, lifeMs) => uploadLink(bucket, requireMediaKey(key), lifeMs),
    list: (folder) => objectNames(bucket, folder),
    sourceOf: (link, method) => sourceOf(bucket, link, method),
  };
}

/**
 * Asks the store for what every process needs, and a worker's writing too. Throws `SetupError` for what only a person can mend, and
 * `StoreUnavailable` for an outage.
 */
export async function checkBucket(
  { location, s3 }: S3Options,
  { writes }: { readonly writes: boolean },
): Promise<void> {
  const client = createS3Client({ ...s3, idleMs: checkMs });
  const probe = { Bucket: location.bucket, Key: `${location.prefix}.videogen-check` };
  const work = async () => {
    for await (const _page of paginateListObjectsV2({ client, pageSize: 1 }, prefixOf({ location }, ''))) break;
    if (!writes) return;
    await client.send(new PutObjectCommand({ ...probe, Body: 'Videogen may write here.' }));
    await client.send(new DeleteObjectCommand(probe));
  };
  try {
    await asked(location, 'check', work);
  } catch (error) {
    throw (error instanceof Error && refusalOf(error.cause, location)) || error;
  } finally {
    client.destroy();
  }
}

/** An outage must not hold a start up for long. */
const checkMs = 5_000;

function objectOf({ location }: Pick<Bucket, 'location'>, key: string) {
  return { Bucket: location.bucket, Key: `${location.prefix}${key}` };
}

function prefixOf({ location }: Pick<Bucket, 'location'>, prefix: string) {
  return { Bucket: location.bucket, Prefix: `${location.prefix}${prefix}` };
}

async function uploadFile(
  { client, location }: Bucket,
  object: PutObjectCommandInput,
  filePath: string,
): Promise<void> {
  const Body = createReadStream(filePath);
  const upload = { client, params: { ...object, Body }, partSize: partBytes, queueSize: partsAtATime };
  try {
    await asked(location, 'put', () => new Upload(upload).done());
  } finally {
    // An upload that fails leaves it open.
    Body.destroy();
  }
}

/** A transfer that breaks off leaves no file. */
async function fetchObject(bucket: Bucket, key: string, filePath: string): Promise<boolean> {
  const get = () => bucket.client.send(new GetObjectCommand(objectOf(bucket, key)));
  const found = await askedFor(bucket.location, 'get', get);
  if (found === undefined) return false;
  const body = readableOf(found.Body);
  try {
    await pipeline(body, createWriteStream(filePath, { flags: 'wx', mode: 0o600 }));
    const { size } = await stat(filePath);
    if (size !== found.ContentLength) throw new Error(`${size} bytes of ${found.ContentLength} arrived`);
    return true;
  } catch (error) {
    // Faults of the folder it goes to; a file that was there is not ours.
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') throw error;
    await rm(filePath, { force: true });
    return await asked(bucket.location, 'get', () => Promise.reject(error));
  }
}

/** On the store's side: its bytes do not come here. */
async function copyObject(bucket: Bucket, from: string, to: string): Promise<void> {
  const { Bucket, Key } = objectOf(bucket, from);
  // What a stranger wrote by a link may say anything of itself, such as that it is a page.
  const ContentType = contentTypeOf(to) ?? '';
  const described = { MetadataDirective: 'REPLACE', ContentType } as const;
  const copy = new CopyObjectCommand({ ...objectOf(bucket, to), ...described, CopySource: `${Bucket}/${Key}` });
  await askedFor(bucket.location, 'copy', () => bucket.client.send(copy));
}

async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  const remove = new DeleteObjectCommand(objectOf(bucket, requireMediaKey(key)));
  await askedFor(bucket.location, 'delete', () => bucket.client.send(remove));
}

async function sizeOf(bucket: Bucket, key: string): Promise<number | undefined> {
  const { client, location } = bucket;
  const object = objectOf(bucket, requireMediaKey(key));
  // The answer to HEAD has no words: what is missing may also be the bucket, so a GET is asked then.
  const head = () =>
    client.send(new HeadObjectCommand(object)).catch(async (error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      const found = await client.send(new GetObjectCommand(object));
      readableOf(found.Body).destroy();
      return found;
    });
  return (await askedFor(location, 'head', head))?.ContentLength;
}

/** What a signature of the store's kind lasts at most. */
const longestLinkMs = 7 * 24 * 60 * 60_000;

async function uploadLink({ client, location }: Bucket, key: string, lifeMs: number): Promise<string> {
  const put = new PutObjectCommand(objectOf({ location }, key));
  const expiresIn = Math.floor(Math.min(lifeMs, longestLinkMs) / 1000);
  return await asked(location, 'sign', () => getSignedUrl(client, put, { expiresIn }));
}

async function* objectNames(bucket: Bucket, folder: string): AsyncGenerator<StoredFile> {
  const { client, location } = bucket;
  const pages = paginateListObjectsV2({ client }, prefixOf(bucket, `${requireMediaFolder(folder)}/`));
  for (;;) {
    const page = await asked(location, 'list', () => pages.next());
    if (page.done === true) return;
    for (const { Key = '', Size = 0 } of page.value.Contents ?? []) {
      const key = Key.slice(location.prefix.length);
      if (contentTypeOf(key) !== undefined) yield { key, sizeBytes: Size };
    }
  }
}

/** The store sends what clients download; a client is told here that a file is gone, not there. */
async function sourceOf(bucket: Bucket, link: OpenedLink, method: 'GET' | 'HEAD'): Promise<MediaSource | undefined> {
  const { client, location } = bucket;
  const object = objectOf(bucket, requireMediaKey(link.key));
  if (link.key.startsWith(streamedFolder) && method === 'GET') {
    const found = await askedFor(location, 'get', () => client.send(new GetObjectCommand(object)));
    return found && { kind: 'stream', sizeBytes: found.ContentLength ?? 0, body: readableOf(found.Body) };
  }
  const sizeBytes = await sizeOf(bucket, link.key);
  if (sizeBytes === undefined) return undefined;
  if (link.key.startsWith(streamedFolder)) return { kind: 'stream', sizeBytes, body: undefined };
  const wanted = { ...object, ResponseContentDisposition: `${link.disposition}; filename="${link.downloadName}"` };
  const command = method === 'HEAD' ? new HeadObjectCommand(wanted) : new GetObjectCommand(wanted);
  // The link to the store ends with ours, or with the credentials it is signed with; ours then leads to a new one.
  const expiresIn = Math.max(1, Math.floor((link.linkExpiresAt - Date.now()) / 1000));
  return { kind: 'redirect', url: await asked(location, 'sign', () => getSignedUrl(client, command, { expiresIn })) };
}

function readableOf(body: unknown): Readable {
  if (body instanceof Readable) return body;
  throw new Error('the answer of the store has no stream');
}

/** An upload without an end for this time has no writer. */
const staleUploadMs = 24 * 60 * 60_000;

/** Ends the uploads that killed writers left behind: their parts take space, and nothing lists them as files. */
async function sweepUploads({ client, location }: Bucket): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(prefixOf({ location }, '')));
  for (const { Key, UploadId, Initiated } of Uploads) {
    if (Initiated === undefined || Date.now() - Initiated.getTime() < staleUploadMs) continue;
    await client.send(new AbortMultipartUploadCommand({ Bucket: location.bucket, Key, UploadId }));
  }
}
