import { hash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { v4 as uuidv4 } from 'uuid';
import {
  imageLimitsText,
  maxUploadBytesOfKind,
  maxUploadMegabytes,
  formatsTextByKind,
  type UploadIdAndName,
  type StoredUploadName,
  uploadKey,
  kindByStoredName,
  whatToSendText,
} from './upload-limits-and-addresses.ts';
import { type DetectedFormat, formatOfFile } from './file-format.ts';
import type { FrameSize } from '../../catalogue/media/frame-size.ts';
import type { ResultStore } from '../store/result-store.ts';
import { ClipRefusedError, clipContainerOf } from '../video/clip-container.ts';
import { ImageRefusedError } from '../pictures/image-refused-error.ts';
import { reencodeAnyImage } from '../pictures/reencode-any-image.ts';
import { AccountClosedError } from '../../accounts/accounts.ts';
import type { Database } from '../../platform/database/database.ts';
import { expireFailedUpload, reserveUpload, confirmUpload, confirmOrReuseUpload, reuseUpload } from './upload-rows.ts';

export type ReceiveFile = (path: string) => Promise<void>;

/** `why` completes a sentence whose subject is the file. */
export type UploadOutcome =
  | { readonly kind: 'stored'; readonly upload: UploadIdAndName; readonly expiresAt: number }
  | { readonly kind: 'too_many' }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Checks an uploaded file and stores it. With `reuses`, a file that the account has already stored with `reuses` is not stored again, and
 * its earlier upload is returned.
 */
export type StoreUpload = (
  accountId: string,
  receive: ReceiveFile,
  options?: { readonly reuses?: boolean },
) => Promise<UploadOutcome>;

type Deps = {
  readonly db: Database;
  readonly resultStore: Pick<ResultStore, 'delete' | 'put'>;
  readonly retentionMs: number;
  readonly workFolder: string;
};

/** A file that may be stored. */
type Checked = Partial<FrameSize> & { readonly fileName: StoredUploadName; readonly path: string };
type Received = Checked & { readonly sha256: Buffer | undefined };

/**
 * Checks an uploaded file by its content and stores it. An image is re-encoded as JPEG, one at a time: a large one takes seconds of a
 * core and 300 MB. Videos and audio are stored as they are, because their conversion takes minutes; the worker of a task converts them.
 */
export function createStoreUpload({ db, resultStore, retentionMs, workFolder }: Deps): StoreUpload {
  const limited = pLimit(1);
  return async (accountId, receive, { reuses = false } = {}) => {
    await mkdir(workFolder, { recursive: true });
    const folder = await mkdtemp(join(workFolder, 'upload-'));
    try {
      const path = join(folder, 'received');
      await receive(path);
      const sha256 = reuses ? hash('sha256', await readFile(path), 'buffer') : undefined;
      const stored = sha256 && (await reuseUpload(db, accountId, sha256, retentionMs));
      if (stored !== undefined) return { kind: 'stored', upload: stored, expiresAt: stored.expiresAt };
      const format = await formatOfFile(path);
      const isImage = format?.kind === 'image';
      const checked = await (isImage ? limited(() => checkImage(folder, path)) : checkClip(path, format));
      return await store(accountId, { ...checked, sha256 });
    } catch (error) {
      if (error instanceof ImageRefusedError || error instanceof ClipRefusedError)
        return { kind: 'refused', why: error.message };
      throw error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  async function store(
    accountId: string,
    { fileName, path, sha256, widthPx, heightPx }: Received,
  ): Promise<UploadOutcome> {
    // A random id, so that no client can guess those of other accounts.
    const upload: UploadIdAndName = { uploadId: uuidv4(), fileName };
    const { size: bytes } = await stat(path);
    const added = await reserveUpload(db, { ...upload, accountId, bytes, retentionMs, widthPx, heightPx });
    if (added === undefined) return { kind: 'too_many' };
    try {
      await resultStore.put(uploadKey(upload), path);
      const other = sha256 && (await confirmOrReuseUpload(db, { ...upload, accountId, sha256, retentionMs }));
      if (other !== undefined) {
        await expireFailedUpload(db, upload.uploadId);
        return { kind: 'stored', upload: other, expiresAt: other.expiresAt };
      }
      if ((await confirmUpload(db, upload.uploadId, sha256)) === undefined) {
        // The account was closed in between, and its files were deleted.
        await resultStore.delete(uploadKey(upload));
        throw new AccountClosedError(accountId);
      }
    } catch (error) {
      // The store may have the file despite the error, so the row stays until the file is deleted.
      await expireFailedUpload(db, upload.uploadId).catch(() => undefined);
      throw error;
    }
    return { kind: 'stored', upload, expiresAt: added.expiresAt };
  }
}

async function checkImage(folder: string, received: string): Promise<Checked> {
  await requireSize('image.jpg', received);
  const path = join(folder, 'image.jpg');
  const { jpeg, ...size } = await reencodeAnyImage(received, { maxMegabytes: maxUploadMegabytes.image });
  await writeFile(path, jpeg);
  return { fileName: 'image.jpg', path, ...size };
}

const everyKind = [
  whatToSendText('image', imageLimitsText(maxUploadMegabytes.image)),
  `an ${formatsTextByKind.video} video of at most ${maxUploadMegabytes.video} MB`,
  `or an ${formatsTextByKind.audio} file of at most ${maxUploadMegabytes.audio} MB`,
].join('; ');

async function checkClip(path: string, format: DetectedFormat | undefined): Promise<Checked> {
  const container = await clipContainerOf(path);
  if (container === undefined) throw new ClipRefusedError(`is ${format?.name ?? 'not a readable file'}; ${everyKind}`);
  const { fileName } = container;
  await requireSize(fileName, path);
  return { fileName, path };
}

/** A form is limited as the largest kind. */
async function requireSize(fileName: StoredUploadName, path: string): Promise<void> {
  const kind = kindByStoredName[fileName];
  if ((await stat(path)).size > maxUploadBytesOfKind(kind))
    throw new ClipRefusedError(`is larger than ${maxUploadMegabytes[kind]} MB`);
}
