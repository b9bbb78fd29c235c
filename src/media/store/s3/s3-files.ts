import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  paginateListObjectsV2,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BucketLocation } from '../store-location.ts';
import { errorCode } from '../../../platform/setup-errors-and-error-messages.ts';
import {
  contentTypeOf,
  requireMediaFolder,
  requireMediaKey,
  requireMovesKeepEnding,
} from '../media-keys-and-content-types.ts';
import type { MediaFiles, MediaSendMethod, StoredFile } from '../result-store.ts';
import {
  startCheckIdleMs,
  createS3Client,
  isRangeNotSatisfiable,
  setupErrorUnlessTemporary,
  type S3ClientSettings,
  callBucketAllowingMissing,
  callBucket,
} from './s3-client-and-errors.ts';

export type BucketOptions = { readonly location: BucketLocation; readonly s3: S3ClientSettings };

type Bucket = { readonly client: S3Client; readonly location: BucketLocation };

/** Copies for upstreams, some of which follow no redirect. */
const streamedFolder = 'references/';

/** Stores files in a bucket. An object appears there whole or not at all, so no reader sees a part of one. */
export function createS3Files({ location, s3 }: BucketOptions): MediaFiles {
  const bucket = { client: createS3Client(s3), location };
  return {
    put: async (key, filePath) => {
      const ContentType = contentTypeOf(requireMediaKey(key)) ?? '';
      // A missing file is an error of the caller, not of the store.
      const { size: ContentLength } = await stat(filePath);
      await uploadFile(bucket, { ...objectOf(bucket, key), ContentType, ContentLength }, filePath);
    },
    fetchTo: async (key, filePath) => fetchObject(bucket, requireMediaKey(key), filePath),
    read: (key) => readObject(bucket, requireMediaKey(key)),
    move: async (moves) => {
      for (const { from, to } of requireMovesKeepEnding(moves)) await copyObject(bucket, from, to);
      for (const { from } of moves) await deleteObject(bucket, from);
    },
    delete: (key) => deleteObject(bucket, key),
    deleteFolder: async (folder) => {
      for await (const name of objectNames(bucket, folder)) await deleteObject(bucket, name.key);
    },
    sizeOf: (key) => sizeOf(bucket, key),
    uploadLink: (key, lifeMs) => uploadLink(bucket, requireMediaKey(key), lifeMs),
    list: (folder) => objectNames(bucket, folder),
    sourceOf: (...request) => sourceOf(bucket, request),
  };
}

/**
 * Tries the requests that every process needs, and a worker's writes. Throws `SetupError` for problems that an operator has to fix,
 * and `StoreUnavailableError` for an outage.
 */
export async function checkBucket(
  { location, s3 }: BucketOptions,
  { writes }: { readonly writes: boolean },
): Promise<void> {
  const client = createS3Client({ ...s3, idleMs: startCheckIdleMs });
  const probe = { Bucket: location.bucket, Key: `${location.prefix}.videogen-check` };
  const work = async () => {
    for await (const _page of paginateListObjectsV2({ client, pageSize: 1 }, prefixOf({ location }, ''))) break;
    if (!writes) return;
    await client.send(new PutObjectCommand({ ...probe, Body: 'Videogen may write here.' }));
    await client.send(new DeleteObjectCommand(probe));
  };
  try {
    await callBucket(location, 'check', work);
  } catch (error) {
    throw (error instanceof Error && setupErrorUnlessTemporary(error.cause, location)) || error;
  } finally {
    client.destroy();
  }
}

function objectOf({ location }: Pick<Bucket, 'location'>, key: string) {
  return { Bucket: location.bucket, Key: `${location.prefix}${key}` };
}

function prefixOf({ location }: Pick<Bucket, 'location'>, prefix: string) {
  return { Bucket: location.bucket, Prefix: `${location.prefix}${prefix}` };
}

/** One request sends up to 5 GB; a file has 1 GB at most. */
async function uploadFile({ client, location }: Bucket, object: Upload, filePath: string): Promise<void> {
  const Body = createReadStream(filePath);
  try {
    await callBucket(location, 'put', () => client.send(new PutObjectCommand({ ...object, Body })));
  } finally {
    // A failed request leaves it open.
    Body.destroy();
  }
}

type Upload = Readonly<Record<'Bucket' | 'Key' | 'ContentType', string>> & { readonly ContentLength: number };

/** A transfer that breaks off leaves no file. */
async function fetchObject(bucket: Bucket, key: string, filePath: string): Promise<boolean> {
  const get = () => bucket.client.send(new GetObjectCommand(objectOf(bucket, key)));
  const found = await callBucketAllowingMissing(bucket.location, 'get', get);
  if (found === undefined) return false;
  const body = readableOf(found.Body);
  try {
    await pipeline(body, createWriteStream(filePath, { flags: 'wx', mode: 0o600 }));
    const { size } = await stat(filePath);
    if (size !== found.ContentLength) throw new Error(`${size} bytes of ${found.ContentLength} arrived`);
    return true;
  } catch (error) {
    // The error is the folder's; an existing file is not ours.
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') throw error;
    await rm(filePath, { force: true });
    return await callBucket(bucket.location, 'get', () => Promise.reject(error));
  }
}

async function readObject({ client, location }: Bucket, key: string): Promise<Readable | undefined> {
  const get = () => client.send(new GetObjectCommand(objectOf({ location }, key)));
  const found = await callBucketAllowingMissing(location, 'get', get);
  return found && readableOf(found.Body);
}

async function copyObject(bucket: Bucket, from: string, to: string): Promise<void> {
  const { Bucket, Key } = objectOf(bucket, from);
  // An object that was written by a link may claim any type, such as that of a page.
  const ContentType = contentTypeOf(to) ?? '';
  const described = { MetadataDirective: 'REPLACE', ContentType } as const;
  const copy = new CopyObjectCommand({ ...objectOf(bucket, to), ...described, CopySource: `${Bucket}/${Key}` });
  await callBucketAllowingMissing(bucket.location, 'copy', () => bucket.client.send(copy));
}

async function deleteObject(bucket: Bucket, key: string): Promise<void> {
  const remove = new DeleteObjectCommand(objectOf(bucket, requireMediaKey(key)));
  await callBucketAllowingMissing(bucket.location, 'delete', () => bucket.client.send(remove));
}

async function sizeOf(bucket: Bucket, key: string): Promise<number | undefined> {
  const { client, location } = bucket;
  const object = objectOf(bucket, requireMediaKey(key));
  // A HEAD does not distinguish a missing object from a missing bucket, so a GET follows.
  const head = () =>
    client.send(new HeadObjectCommand(object)).catch(async (error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      const found = await client.send(new GetObjectCommand(object));
      readableOf(found.Body).destroy();
      return found;
    });
  return (await callBucketAllowingMissing(location, 'head', head))?.ContentLength;
}

/** The longest life of a signed link. */
const longestLinkMs = 7 * 24 * 60 * 60_000;

async function uploadLink({ client, location }: Bucket, key: string, lifeMs: number): Promise<string> {
  const put = new PutObjectCommand(objectOf({ location }, key));
  const expiresIn = Math.floor(Math.min(lifeMs, longestLinkMs) / 1000);
  return await callBucket(location, 'sign', () => getSignedUrl(client, put, { expiresIn }));
}

async function* objectNames(bucket: Bucket, folder: string): AsyncGenerator<StoredFile> {
  const { client, location } = bucket;
  const pages = paginateListObjectsV2({ client }, prefixOf(bucket, `${requireMediaFolder(folder)}/`));
  for (;;) {
    const page = await callBucket(location, 'list', () => pages.next());
    if (page.done === true) return;
    for (const { Key = '', Size = 0 } of page.value.Contents ?? []) {
      const key = Key.slice(location.prefix.length);
      if (contentTypeOf(key) !== undefined) yield { key, sizeBytes: Size };
    }
  }
}

type SourceRequest = Parameters<MediaFiles['sourceOf']>;

/**
 * Redirects to the store, which serves downloads itself. Reference media, and files for clients that follow no redirect, are streamed
 * instead; a missing file is reported here.
 */
async function sourceOf(bucket: Bucket, [link, method, passing]: SourceRequest): Promise<MediaSendMethod | undefined> {
  const isStreamed = passing !== undefined || link.key.startsWith(streamedFolder);
  if (isStreamed && method === 'GET') return streamOf(bucket, link.key, passing?.range);
  const sizeBytes = await sizeOf(bucket, link.key);
  if (sizeBytes === undefined) return undefined;
  if (isStreamed) return { kind: 'stream', sizeBytes, body: undefined };
  const { client, location } = bucket;
  const object = objectOf(bucket, requireMediaKey(link.key));
  const served = { ...object, ResponseContentDisposition: `${link.disposition}; filename="${link.downloadName}"` };
  const command = method === 'HEAD' ? new HeadObjectCommand(served) : new GetObjectCommand(served);
  // The link to the store ends with ours, or with the credentials it is signed with; ours then leads to a new one.
  const expiresIn = Math.max(1, Math.floor((link.linkExpiresAt - Date.now()) / 1000));
  return {
    kind: 'redirect',
    url: await callBucket(location, 'sign', () => getSignedUrl(client, command, { expiresIn })),
  };
}

/** The store parses the range; one that it does not understand is the whole file. */
async function streamOf(bucket: Bucket, key: string, range: string | undefined): Promise<MediaSendMethod | undefined> {
  const { client, location } = bucket;
  const object = { ...objectOf(bucket, requireMediaKey(key)), ...(range !== undefined && { Range: range }) };
  const get = () =>
    client.send(new GetObjectCommand(object)).catch((error: unknown) => {
      if (isRangeNotSatisfiable(error)) return 'outside' as const;
      throw error;
    });
  const found = await callBucketAllowingMissing(location, 'get', get);
  if (found === undefined) return undefined;
  if (found === 'outside') return { kind: 'outside', sizeBytes: (await sizeOf(bucket, key)) ?? 0 };
  const { ContentLength: sizeBytes = 0, ContentRange: contentRange, Body } = found;
  return { kind: 'stream', sizeBytes, contentRange, body: readableOf(Body) };
}

function readableOf(body: unknown): Readable {
  if (body instanceof Readable) return body;
  throw new Error('the answer of the store has no stream');
}
