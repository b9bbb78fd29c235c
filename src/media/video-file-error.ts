/** A file that is not a video which plays. The message says why, for the log. */
export class VideoFileError extends Error {
  override readonly name = 'VideoFileError';
}
