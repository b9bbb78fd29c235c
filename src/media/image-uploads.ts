import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { v4 as uuidv4 } from 'uuid';
import { uploadKey } from './upload.ts';
import type { ResultStore } from './result-store.ts';
import type { UploadOutcome } from '../http/http-deps.ts';
import { decodeImage, ImageRefusal } from './image-decode.ts';
import { AccountClosed } from '../accounts/accounts.ts';
import type { Database } from '../platform/database/database.ts';
import { abandonUpload, addUpload, hasUpload } from './uploads.ts';

type Deps = {
  readonly db: Database;
  readonly resultStore: Pick<ResultStore, 'delete' | 'put'>;
  readonly retentionMs: number;
  readonly workFolder: string;
};

/**
 * Checks an uploaded image and stores it re-encoded as JPEG, so that no bytes of a client are served from our address. Decodes one
 * image at a time: a large one takes seconds of a core and 300 MB.
 */
export function createImageUploads({ db, resultStore, retentionMs, workFolder }: Deps) {
  const limited = pLimit(1);
  return async (accountId: string, image: Buffer): Promise<UploadOutcome> => {
    const decoded = await limited(() => decodeImage(image)).catch((error: unknown) => {
      if (error instanceof ImageRefusal) return error;
      throw error;
    });
    if (decoded instanceof ImageRefusal) return { kind: 'refused', why: decoded.message };
    // Only the account may learn the id, which opens the image.
    const uploadId = uuidv4();
    const { jpeg } = decoded;
    const added = await addUpload(db, { uploadId, accountId, bytes: jpeg.length, retentionMs });
    if (added === undefined) return { kind: 'too_many' };
    try {
      await store(uploadKey(uploadId), jpeg);
      if (!(await hasUpload(db, uploadId)).exists) {
        // The account was closed in between, and its images were deleted.
        await resultStore.delete(uploadKey(uploadId));
        throw new AccountClosed(accountId);
      }
    } catch (error) {
      // The store may have the file despite the error, so the row stays until the file is deleted.
      await abandonUpload(db, uploadId).catch(() => undefined);
      throw error;
    }
    return { kind: 'stored', uploadId, expiresAt: added.expiresAt };
  };

  async function store(key: string, jpeg: Buffer): Promise<void> {
    await mkdir(workFolder, { recursive: true });
    const folder = await mkdtemp(join(workFolder, 'upload-'));
    try {
      await writeFile(join(folder, 'image.jpg'), jpeg);
      await resultStore.put(key, join(folder, 'image.jpg'));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}
