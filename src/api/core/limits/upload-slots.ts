import { HttpError } from '../http-error.ts';

/** Concurrent uploads in this process; each may decode an image in memory. */
const maxAtOnce = 8;
/** Prevents a slow sender from blocking the uploads of other accounts. */
export const maxAccountUploadsAtOnce = 2;
/** The memory and disk of this process that its concurrent uploads may fill before they are in the store. */
export const maxUploadBytesAtOnce = 400 * 1024 * 1024;

type Upload = { readonly accountId: string; readonly bytes: number };
const running = new Set<Upload>();

/** Runs `receive` in an upload slot; throws `uploads_busy` if none is free. `bytes`: the most that the request may send. */
export async function withUploadSlot<T>(upload: Upload, receive: () => Promise<T>): Promise<T> {
  const { accountId, bytes } = upload;
  const ofAccount = [...running].filter((other) => other.accountId === accountId).length;
  const total = [...running].reduce((sum, other) => sum + other.bytes, bytes);
  if (running.size >= maxAtOnce || ofAccount >= maxAccountUploadsAtOnce || total > maxUploadBytesAtOnce) {
    throw new HttpError('uploads_busy');
  }
  const slot = { accountId, bytes };
  running.add(slot);
  try {
    return await receive();
  } finally {
    running.delete(slot);
  }
}
