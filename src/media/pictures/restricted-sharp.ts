import sharp from 'sharp';

/**
 * Restricts sharp to the three formats that clients may send, and to SVG, with which only the `preview` provider draws. It reads from
 * memory only, so that no text of a client can be taken for the name of a file. `block` counts for the whole process.
 */
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Svg'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/** One thread for each image, because images run beside ffmpeg, and no cache, because no image is read twice. */
sharp.concurrency(1);
sharp.cache(false);

/** True for the first bytes of JPEG, PNG and WebP. Every file from outside is checked, because sharp would also read an SVG. */
export function isJpegPngOrWebp(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  return start.startsWith('\xff\xd8\xff') || start.startsWith('\x89PNG\r\n\x1a\n') || /^RIFF[^]{4}WEBP/.test(start);
}

export { sharp };
