import sharp from 'sharp';

/** A small image as a data URL. */
export async function dataUrl(): Promise<string> {
  const png = await sharp({ create: { width: 320, height: 320, channels: 3, background: 'gray' } })
    .png()
    .toBuffer();
  return `data:image/png;base64,${png.toString('base64')}`;
}
