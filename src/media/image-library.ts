import sharp from 'sharp';

/**
 * sharp, closed but for the three formats that clients may send, read from memory only. `block` counts for the whole
 * process, and so for everybody who imports sharp: it is done here, once, and everybody imports sharp from here.
 * What is off: every other format (SVG reads files and fonts, TIFF, HEIF, GIF and PDF have long lists of faults),
 * and reading by path, so that no text of a client can ever be taken for the name of a file.
 */
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});

/** One thread for each image, and nothing remembered of an image that will not come again: images run beside ffmpeg. */
sharp.concurrency(1);
sharp.cache(false);

export { sharp };
