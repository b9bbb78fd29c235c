import type { FrameSize } from './frame-size.ts';

/** A reference image that was fetched, checked and re-encoded by us: an upright JPEG that no other program writes to. */
export type PreparedReferenceImage = FrameSize & { readonly path: string };

/** A reference video (MP4 with H.264 and AAC) or reference audio (MP3) that was fetched, checked and re-encoded by us. */
export type PreparedReferenceClip = { readonly path: string; readonly seconds: number };

/** The reference media of a task by role, each in the order of the request. */
export type MediaByRole<Image, Clip = Image> = {
  readonly images: readonly Image[];
  readonly firstFrame?: Image | undefined;
  readonly lastFrame?: Image | undefined;
  readonly videos: readonly Clip[];
  readonly audios: readonly Clip[];
};

export type MediaRole = keyof MediaByRole<never>;
export const mediaRoles = ['images', 'firstFrame', 'lastFrame', 'videos', 'audios'] as const satisfies MediaRole[];

export type PreparedMediaByRole = MediaByRole<PreparedReferenceImage, PreparedReferenceClip>;

/** Signed links to copies in our store. */
export type MediaLinks = MediaByRole<string>;

export const noMedia = { images: [], videos: [], audios: [] } as const satisfies PreparedMediaByRole;
