import type { Readable } from 'node:stream';
import { contentTypeOf, type KeyMove, requireMediaKey } from './media-keys-and-content-types.ts';
import { createLinkSigner, type LinkSignerOptions, type PresentedLink } from './signed-link.ts';

/** The store cannot be reached or rejects a request, which may be retried. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/**
 * Files by key (see `contentTypeOf`), in a folder or a bucket. Methods that take keys throw for other text. An outage, or a refusal of the
 * store, is an error that may be retried; it is never reported as a missing file.
 */
export type MediaFiles = {
  /** Stores a copy of a file. The same key may be written again; readers see the old or the new file, never a part. */
  readonly put: (key: string, filePath: string) => Promise<void>;
  /**
   * Makes a stored file readable at `filePath`, where no file may exist. Returns false if the key has no file. The file stays readable
   * when the key is deleted, and may share its bytes with the store, so it must not be written to.
   */
  readonly fetchTo: (key: string, filePath: string) => Promise<boolean>;
  /** Opens a stored file; undefined if it does not exist. The caller reads the stream to its end, or destroys it. */
  readonly read: (key: string) => Promise<Readable | undefined>;
  /**
   * Moves each file from `from` to `to`, over an existing one. At any time, each is whole at one of its two keys at least. A missing
   * `from` was moved before, so moves may be repeated.
   */
  readonly move: (moves: readonly KeyMove[]) => Promise<void>;
  /** Deletes a stored file. A missing one is no error. */
  readonly delete: (key: string) => Promise<void>;
  /** Deletes every file whose key begins with the folder. */
  readonly deleteFolder: (folder: string) => Promise<void>;
  /** Undefined if the key has no file. */
  readonly sizeOf: (key: string) => Promise<number | undefined>;
  /** Returns a link that allows writing this one file until it expires; undefined where only we can write. */
  readonly uploadLink: (key: string, lifeMs: number) => Promise<string | undefined>;
  readonly list: (folder: string) => AsyncIterable<StoredFile>;
  /** Returns how to send the file behind a link to a client; undefined if it does not exist. With `passing`, never as a redirect. */
  readonly sourceOf: (
    link: VerifiedLink,
    method: 'GET' | 'HEAD',
    passing?: ProxiedRange,
  ) => Promise<MediaSendMethod | undefined>;
};

/** The bytes pass through this service, also those of a bucket: whole, or the range of the request. */
export type ProxiedRange = { readonly range: string | undefined };

export type StoredFile = { readonly key: string; readonly sizeBytes: number };

/** A link that was signed by us and has not expired. */
export type VerifiedLink = {
  readonly key: string;
  readonly contentType: string;
  readonly downloadName: string;
  /** A browser plays an inline file, and saves an attachment. */
  readonly disposition: 'inline' | 'attachment';
  /** Unix milliseconds. */
  readonly linkExpiresAt: number;
};

export type MediaSendMethod =
  /** `path` has `/` between its segments. */
  | { readonly kind: 'file'; readonly root: string; readonly path: string }
  /** The client fetches it there. */
  | { readonly kind: 'redirect'; readonly url: string }
  /** `sizeBytes` of a file, or of the part that `contentRange` names. It has no body for HEAD. */
  | {
      readonly kind: 'stream';
      readonly sizeBytes: number;
      readonly body: Readable | undefined;
      readonly contentRange?: string | undefined;
    }
  /** The file does not contain the requested range. */
  | { readonly kind: 'outside'; readonly sizeBytes: number };

export type ResultStore = ReturnType<typeof createResultStore>;

/** Files, and signed links to them, which lead to this service's own media route. */
export function createResultStore(files: MediaFiles, options: LinkSignerOptions) {
  const signer = createLinkSigner(options);
  return {
    ...files,
    /**
     * Returns an absolute URL that works without a key for a limited time, by default a day, signed for this call. Does not check whether the
     * file exists.
     */
    link: (key: string, lifeMs?: number): string => signer.sign(requireMediaKey(key), lifeMs),
    /** A URL of the route for archives. The name of an archive lists its videos. */
    archiveLink: (name: string, lifeMs: number): string => signer.sign(archiveKey(name), lifeMs),
    isArchiveSigned: (name: string, { expires, signature }: Omit<PresentedLink, 'key'>): boolean =>
      signer.verify({ key: archiveKey(name), expires, signature }) !== undefined,
    /** Undefined for a link that is altered or expired. */
    open: (link: PresentedLink, disposition: VerifiedLink['disposition'] = 'inline'): VerifiedLink | undefined => {
      const linkExpiresAt = signer.verify(link);
      return linkExpiresAt === undefined ? undefined : described(link.key, disposition, linkExpiresAt);
    },
    /** The file for a caller who needs no signed link. */
    attachment: (key: string): VerifiedLink | undefined => described(key, 'attachment', 0),
  };
}

function described(
  key: string,
  disposition: VerifiedLink['disposition'],
  linkExpiresAt: number,
): VerifiedLink | undefined {
  const contentType = contentTypeOf(key);
  if (contentType === undefined) return undefined;
  return { key, contentType, downloadName: key.split('/').slice(-2).join('-'), disposition, linkExpiresAt };
}

/** No key of a file ends so: a link to an archive opens no file, and a link to a file no archive. */
function archiveKey(name: string): string {
  return `archives/${name}.zip`;
}
