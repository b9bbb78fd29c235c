/** An image that is refused; `message` continues the name of the image: `is animated`. */
export class ImageRefusedError extends Error {
  override readonly name = 'ImageRefusedError';
  /** `format`: another format is accepted. `damage`: the file is not whole. `crash`: its decoder crashed, or took too much memory. */
  readonly reason: 'format' | 'damage' | 'crash' | undefined;

  constructor(
    message: string,
    options: { readonly cause?: unknown; readonly reason?: ImageRefusedError['reason'] } = {},
  ) {
    super(message, options);
    this.reason = options.reason;
  }
}

export function damagedImageError(cause: unknown): ImageRefusedError {
  return new ImageRefusedError('is damaged or cut off', { cause, reason: 'damage' });
}
