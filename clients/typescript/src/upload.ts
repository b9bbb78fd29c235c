import type { MediaType, UploadedMedia } from './contract.ts';
import { sendContent } from './send.ts';
import type { CallOptions, Transport } from './transport.ts';

export type UploadOptions = CallOptions & {
  /** By default the type of the Blob or File. The content decides what the file is. */
  readonly contentType?: MediaType | undefined;
};

/**
 * The time limit of an attempt grows with the file, as for a line of one
 * megabit per second.
 */
const slowestBytesPerMs = 125;

/**
 * Uploads a reference image, video or audio file. A stream is not accepted, because it could not be sent again; a Blob that
 * reads from the disk is. A repetition after a lost response leaves a second upload, which costs nothing and expires.
 */
export async function upload(
  transport: Transport,
  file: Blob | Uint8Array,
  { contentType, ...call }: UploadOptions,
): Promise<UploadedMedia> {
  const type = contentType ?? ((file instanceof Uint8Array ? '' : file.type) || 'application/octet-stream');
  // The copy cannot change between attempts, nor be shared memory, which fetch rejects.
  const bytes = file instanceof Uint8Array ? new Uint8Array(file) : file;
  const size = file instanceof Uint8Array ? file.byteLength : file.size;
  const timeoutMs = call.timeoutMs ?? transport.defaults.timeoutMs + size / slowestBytesPerMs;
  return sendContent(transport, '/api/v1/uploads', { type, bytes }, { ...call, timeoutMs });
}
