import { open } from 'node:fs/promises';
import type { UploadKind } from './upload-limits-and-addresses.ts';

/** The format of a file, by its first bytes. `name` follows "is": `an MP4 video`. */
export type DetectedFormat = { readonly name: string; readonly kind: UploadKind | 'other' };

/** The beginning of a web page may need that much before its first tag. */
export const bytesToDetectFormat = 4096;

export async function formatOfFile(path: string): Promise<DetectedFormat | undefined> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytesToDetectFormat), 0, bytesToDetectFormat, 0);
  return formatOfBytes(buffer.subarray(0, bytesRead));
}

/** Returns the format of a file that begins so; undefined for an unknown one. Messages need it, so it includes what is refused. */
export function formatOfBytes(start: Buffer): DetectedFormat | undefined {
  const text = start.toString('latin1', 0, bytesToDetectFormat);
  for (const [kind, names] of Object.entries(signatures))
    for (const [name, signature] of names)
      if (signature.test(text)) return { name, kind: kind as DetectedFormat['kind'] }; // The keys are those of the table.
  return isText(start) ? { name: 'plain text', kind: 'other' } : undefined;
}

/** The major brand, or one of the compatible ones. */
const brand = (...brands: readonly string[]) => new RegExp(`^[^]{4}ftyp(?:[^]{4}){0,32}?(?:${brands.join('|')})`);
const major = (...brands: readonly string[]) => new RegExp(`^[^]{4}ftyp(?:${brands.join('|')})`);
const spaces = String.raw`^(?:\xef\xbb\xbf)?\s*`;
const markup = (tag: string) => new RegExp(String.raw`${spaces}(?:<\?xml[^>]*>\s*|<!--[^]*?-->\s*)*<${tag}`, 'i');

// oxlint-disable no-control-regex -- the first bytes of files are often control characters
/** The first match counts, so that the more specific ones come first. */
const signatures: Readonly<Record<DetectedFormat['kind'], readonly (readonly [name: string, signature: RegExp])[]>> = {
  image: [
    ['a JPEG image', /^\xff\xd8\xff/],
    ['a PNG image', /^\x89PNG\r\n\x1a\n/],
    ['a WebP image', /^RIFF[^]{4}WEBP/],
    ['an AVIF image', brand('avif', 'avis')],
    ['a HEIC image', brand('heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1')],
    ['a GIF image', /^GIF8[79]a/],
    ['a BMP image', /^BM[^]{8}[^]{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0/],
    ['a Canon raw photo', /^(?:II\*\0[^]{4}CR|[^]{4}ftypcrx )/],
    ['an Olympus raw photo', /^II(?:RO|RS)/],
    ['a Panasonic raw photo', /^IIU\0/],
    ['a Fujifilm raw photo', /^FUJIFILMCCD-RAW/],
    ['a TIFF image', /^(?:II[*+]\0|MM\0[*+])/],
    ['a JPEG XL image', /^(?:\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n)/],
    ['a JPEG 2000 image', /^(?:\0\0\0\x0cjP {2}\r\n\x87\n|\xff\x4f\xff\x51)/],
    ['a JPEG XR image', /^II\xbc/],
    ['a Photoshop image', /^8BPS/],
    ['a GIMP image', /^gimp xcf/],
    ['an EMF drawing', /^\x01\0\0\0[^]{36} EMF/],
    ['a WMF drawing', /^(?:\xd7\xcd\xc6\x9a|\x01\0\x09\0\0\x03)/],
    ['an icon', /^\0\0[\x01\x02]\0[^]\0/],
    ['an OpenEXR image', /^v\/1\x01/],
    ['a Radiance HDR image', /^#\?(?:RADIANCE|RGBE)/],
    ['a QOI image', /^qoif/],
    ['an SVG image', markup(String.raw`(?:!doctype svg[^>]*>\s*<)?svg\b`)],
  ],
  video: [
    ['a 3GP video', major('3g')],
    ['a QuickTime video', major('qt {2}')],
    ['a WebM video', /^\x1aE\xdf\xa3[^]{0,64}?B\x82[^]webm/],
    ['a Matroska video', /^\x1aE\xdf\xa3/],
    ['an AVI video', /^RIFF[^]{4}AVI /],
    ['an Ogg video', /^OggS[^]{24,200}?(?:\x80theora|fishead)/],
    ['a Flash video', /^FLV\x01/],
    ['a Windows Media file', /^\x30\x26\xb2\x75\x8e\x66\xcf\x11/],
    ['an MPEG program stream', /^\0\0\x01\xba/],
    ['an MPEG transport stream', /^(?:G[^]{187}G|[^]{4}G[^]{191}G)/],
  ],
  audio: [
    ['an M4A file', major('M4A ', 'M4B ')],
    ['an MP3 file', /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb][^\xf0-\xff])/],
    ['an AAC file', /^\xff[\xf0\xf1\xf8\xf9]/],
    ['a WAV file', /^(?:RIFF|RF64)[^]{4}WAVE/],
    ['an Ogg file', /^OggS/],
    ['a FLAC file', /^fLaC/],
    ['an AIFF file', /^FORM[^]{4}AIF[FC]/],
    ['an AMR file', /^#!AMR/],
    ['a CAF file', /^caff/],
    ['an AC-3 file', /^\x0bw/],
    ['an AAC file with an ADIF header', /^ADIF/],
    ["a Monkey's Audio file", /^MAC /],
    ['a Musepack file', /^(?:MPCK|MP\+)/],
    ['a WavPack file', /^wvpk/],
    ['a TAK file', /^tBaK/],
    ['a True Audio file', /^TTA[12]/],
    ['a DSD file', /^(?:DSD |FRM8)/],
    ['a Sun audio file', /^\.snd/],
    ['a MIDI file', /^MThd/],
  ],
  other: [
    ['an MP4 file', /^[^]{4}(?:ftyp|moov)/],
    ['a web page', markup('(?:!doctype html|html|head|body|script|meta|title)')],
    ['XML', markup('[a-z!]')],
    ['a PDF document', /^%PDF-/],
    ['a ZIP archive', /^PK\x03\x04/],
    ['a gzip archive', /^\x1f\x8b/],
    ['a playlist', /^#EXTM3U/],
    ['a pointer of Git LFS', /^version https:\/\/git-lfs/],
    ['a data URL', new RegExp(`${spaces}data:[\\w/+.;=-]*,`, 'i')],
    ['JSON', new RegExp(`${spaces}[{[]\\s*["{[\\]}]`)],
  ],
};

// oxlint-enable no-control-regex

function isText(start: Buffer): boolean {
  if (start.length === 0 || start.some((byte) => byte < 0x20 && ![9, 10, 13].includes(byte))) return false;
  try {
    // The last character may be cut off.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    return true;
  } catch {
    return false;
  }
}
