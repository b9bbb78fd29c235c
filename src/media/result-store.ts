/** What a link to the media route carries, as the client sent it. */
export type PresentedLink = { readonly key: string; readonly expires: string; readonly signature: string };

/** A file that a good link leads to: `path` lies in `root` and has `/` between its segments. */
export type LinkedFile = {
  readonly root: string;
  readonly path: string;
  readonly contentType: string;
  /** A name for the browser's "save as": letters, digits, dots, dashes and underscores. */
  readonly downloadName: string;
  /** Unix milliseconds. */
  readonly linkExpiresAt: number;
};

/** Two keys with the same ending. */
export type Move = { readonly from: string; readonly to: string };

/**
 * Where results are kept, by key: at most eight path segments of a strict charset with a known ending
 * (`results/<taskId>/video.mp4`). A method throws for what is no key, and for faults of the disk or the network.
 */
export type ResultStore = {
  /** Stores a copy of a file, all of it or nothing. The same key may be written again; readers see the old or the new file. */
  put(key: string, filePath: string, contentType: string): Promise<void>;
  /** An absolute URL that anybody may read for a limited time, signed for this very call. Does not ask whether the file exists. */
  link(key: string): Promise<string> | string;
  /**
   * Makes a stored file readable at `filePath`, where nothing may lie; answers false when there is none. It stays readable
   * whatever becomes of the key, and may share its bytes with the store, so it must not be written to.
   */
  fetchTo(key: string, filePath: string): Promise<boolean>;
  /**
   * Puts what is stored under each `from` under its `to` instead, each all at once, over what lay there. When there is nothing
   * under a `from` it was moved before, so moves may be repeated.
   */
  move(moves: readonly Move[]): Promise<void>;
  /** Deletes what is stored; harmless when there is nothing. */
  delete(key: string): Promise<void>;
  /**
   * For a store whose links lead back to this service: the file behind a link, or undefined for one that is altered or
   * expired. A store that serves its links itself has no such method.
   */
  readonly open?: (link: PresentedLink) => LinkedFile | undefined;
};
