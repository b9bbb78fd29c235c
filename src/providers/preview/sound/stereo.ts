/** Samples a second; a whole number of them falls on each of the 24 pictures. */
export const samplesPerSecond = 48_000;

/** Sound in two channels of the same length, samples −1 to 1. */
export type Stereo = { readonly left: Float32Array; readonly right: Float32Array };
