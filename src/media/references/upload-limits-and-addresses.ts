import { uuidPattern } from '../../platform/text/uuid.ts';

// Reference media that clients upload: they are in our own store, and a task names them by an address of ours, which is never fetched.

/** The media types of each kind, also those that only some browsers give. The content decides what a file is. */
export const uploadMediaTypes = {
  image: [
    'image/jpeg',
    'image/png',
    'image/webp',
    'image/heic',
    'image/heif',
    'image/avif',
    'image/gif',
    'image/bmp',
    'image/tiff',
  ],
  video: ['video/mp4', 'video/quicktime', 'video/webm', 'video/x-matroska', 'video/x-msvideo'],
  audio: [
    'audio/mpeg',
    'audio/mp3',
    'audio/wav',
    'audio/x-wav',
    'audio/vnd.wave',
    'audio/mp4',
    'audio/x-m4a',
    'audio/aac',
    'audio/ogg',
    'audio/webm',
    'audio/flac',
    'audio/x-flac',
    'audio/aiff',
    'audio/x-aiff',
  ],
} as const;
/** Those of the vocabulary (`MediaKind`), which must stay out of the console's bundle. */
export type UploadKind = keyof typeof uploadMediaTypes;

/** The accepted formats in the words of messages and pages; a file in another format is refused with its name. */
export const formatsTextByKind = {
  image: 'JPEG, PNG, WebP, HEIC, AVIF, GIF, BMP or TIFF',
  video: 'MP4, MOV, WebM, MKV or AVI',
  audio: 'MP3, WAV, M4A, AAC, Ogg, FLAC or AIFF',
} as const satisfies Record<UploadKind, string>;

export const maxUploadMegabytes = { image: 10, video: 100, audio: 30 } as const satisfies Record<UploadKind, number>;

/** The documented 30 MB of an image that is fetched, read as the larger of its two meanings. */
export const maxFetchedImageMegabytes = 30;
/** Pixels of each side of an image, both bounds included. */
export const imageSidePx = { min: 300, max: 6000 };
/** More frames a second than any camera's, so that the work on a clip is bounded by its limits. */
export const maxFrameRate = 120;

export function maxUploadBytesOfKind(kind: UploadKind): number {
  return maxUploadMegabytes[kind] * 1024 * 1024;
}

/** Returns the advice of a message that refuses a file of this kind. */
export function whatToSendText(kind: UploadKind, limits: string): string {
  const nouns = { image: 'image', video: 'video', audio: 'file' };
  const article = kind === 'image' ? 'a' : 'an';
  return `send ${article} ${formatsTextByKind[kind]} ${nouns[kind]} ${limits}`;
}

export function imageLimitsText(maxMegabytes: number): string {
  return `of at most ${maxMegabytes} MB, each side ${imageSidePx.min} to ${imageSidePx.max} px`;
}

/** Returns the command that uploads a file which is too large for a request, for messages. */
export function uploadCommand(publicUrl: string): string {
  return `curl --data-binary @FILE -H "Authorization: Bearer $VIDEOGEN_API_KEY" ${publicUrl}/api/v1/uploads`;
}

/** The limits of an account: its files, and their bytes. */
export const maxUploadsOfAccount = 500;
export const maxUploadedBytesOfAccount = 1024 * 1024 * 1024;

/** A task may wait a day, and be generated for another one, after it was accepted with a file that was about to expire. */
export const uploadGraceMs = 50 * 60 * 60_000;

/** The names of uploaded files in their folder, and their kinds. The ending decides how a file is served. */
export const kindByStoredName = {
  'image.jpg': 'image',
  'video.mp4': 'video',
  'video.mov': 'video',
  'video.webm': 'video',
  'video.mkv': 'video',
  'video.avi': 'video',
  'audio.mp3': 'audio',
  'audio.wav': 'audio',
  'audio.m4a': 'audio',
  'audio.aac': 'audio',
  'audio.ogg': 'audio',
  'audio.webm': 'audio',
  'audio.mka': 'audio',
  'audio.flac': 'audio',
  'audio.aiff': 'audio',
} as const satisfies Record<string, UploadKind>;
export type StoredUploadName = keyof typeof kindByStoredName;

export type UploadIdAndName = { readonly uploadId: string; readonly fileName: StoredUploadName };

/** The key of a file in the result store. */
export function uploadKey({ uploadId, fileName }: UploadIdAndName): string {
  return `uploads/${uploadId}/${fileName}`;
}

const uploadPath = new RegExp(`^/media/uploads/(${uuidPattern})/([a-z]+\\.[a-z0-9]+)$`);

/** The address by which a task names a file; it never changes, and leads nowhere without a signature. */
export function uploadUrl(publicUrl: string, upload: UploadIdAndName): string {
  return `${publicUrl}/media/${uploadKey(upload)}`;
}

/** The file that such an address names; undefined for every other one, also when it differs only in its spelling. */
export function uploadFromUrl(publicUrl: string, url: string): UploadIdAndName | undefined {
  const [, uploadId, name] = url.startsWith(publicUrl) ? (uploadPath.exec(url.slice(publicUrl.length)) ?? []) : [];
  return uploadId !== undefined && isUploadName(name) ? { uploadId, fileName: name } : undefined;
}

function isUploadName(name: string | undefined): name is StoredUploadName {
  return name !== undefined && Object.hasOwn(kindByStoredName, name);
}

/** True for a signed link that shows an uploaded file. It expires, so a task must not depend on it. */
export function isUploadPreviewUrl(publicUrl: string, url: string): boolean {
  const [address = '', query] = url.split('?', 2);
  return query !== undefined && uploadFromUrl(publicUrl, address) !== undefined;
}

/** The uploads that the addresses of a request name. */
export function uploadIdsOf(publicUrl: string, media: readonly { readonly url: string }[]): readonly string[] {
  return media.map(({ url }) => uploadFromUrl(publicUrl, url)?.uploadId).filter((uploadId) => uploadId !== undefined);
}
