/** The file is not a playable video. The message gives the reason, for the log. */
export class VideoFileError extends Error {
  override readonly name = 'VideoFileError';
}
