import sharp from 'sharp';

/**
 * sharp, closed but for the three formats that clients may send, and for SVG, which only the `preview` provider draws with;
 * all read from memory only. `block` counts for the whole process, and so for everybody who imports sharp: it is done here,
 * once, and the other files of src/media import sharp from here. What is off: every other format (TIFF, HEIF, GIF and PDF have long lists of
 * faults), and reading by path, so that no text of a client can ever be taken for the name of a file.
 */
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Svg'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/** One thread for each image, and nothing remembered of an image that will not come again: images run beside ffmpeg. */
sharp.concurrency(1);
sharp.cache(false);

/**
 * Whether bytes of others begin as a JPEG, PNG or WebP image does. libvips chooses the reader by these bytes, too; without
 * them it would try SVG, so every file from outside is checked with this before sharp reads it.
 */
export function isPhotoFormat(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  return start.startsWith('\xff\xd8\xff') || start.startsWith('\x89PNG\r\n\x1a\n') || /^RIFF[^]{4}WEBP/.test(start);
}

export { sharp };
