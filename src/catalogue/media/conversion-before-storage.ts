import type { Ratio, Resolution } from '../input/resolutions-ratios-and-field-bounds.ts';

/** The stored video has this form, which the upstream's may need to be converted to. Part of workflow histories. */
export type ConversionBeforeStorage = {
  /** False removes the sound. A silent video stays silent. */
  readonly audio: boolean;
  /** `convert` scales the picture and cuts it at two sides, to the size of resolution and ratio. */
  readonly fit: 'keep' | 'convert';
  readonly resolution: Resolution;
  /** `adaptive` is the ratio nearest to that of the video. */
  readonly ratio: Ratio;
  /** True if the last frame is stored beside the video. */
  readonly lastFrame: boolean;
  /** Set for a video that is marked as made by a model, which has this name. */
  readonly mark?: { readonly model: string };
};
