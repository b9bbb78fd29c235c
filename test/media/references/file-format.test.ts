import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatOfBytes, formatOfFile } from '../../../src/media/references/file-format.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const bytes = (count: number) => '.'.repeat(count);
const container = (major: string, compatible = '') => `${bytes(4)}ftyp${major}${bytes(4)}${compatible}`;

/** The beginnings of files, whose characters are bytes. */
const formats: Readonly<Record<'image' | 'video' | 'audio' | 'other', Readonly<Record<string, readonly string[]>>>> = {
  image: {
    'a JPEG image': ['\xff\xd8\xff\xe0'],
    'a PNG image': ['\x89PNG\r\n\x1a\n'],
    'a WebP image': ['RIFF....WEBPVP8 '],
    'an AVIF image': [container('avif'), container('avis'), container('mif1', 'miafavif')],
    'a HEIC image': ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'].map((brand) => container(brand)),
    'a GIF image': ['GIF87a', 'GIF89a'],
    'a BMP image': [`BM${bytes(12)}\x28\0\0\0`],
    'a Canon raw photo': [`II*\0${bytes(4)}CR`, container('crx ')],
    'an Olympus raw photo': ['IIRO', 'IIRS'],
    'a Panasonic raw photo': ['IIU\0'],
    'a Fujifilm raw photo': ['FUJIFILMCCD-RAW 0201'],
    'a TIFF image': [`II*\0${bytes(8)}`, 'II+\0', 'MM\0*', 'MM\0+'],
    'a JPEG XL image': ['\xff\x0a', '\0\0\0\x0cJXL \r\n\x87\n'],
    'a JPEG 2000 image': ['\0\0\0\x0cjP  \r\n\x87\n', '\xff\x4f\xff\x51'],
    'a JPEG XR image': ['II\xbc'],
    'a Photoshop image': ['8BPS'],
    'a GIMP image': ['gimp xcf'],
    'an EMF drawing': [`\x01\0\0\0${bytes(36)} EMF`],
    'a WMF drawing': ['\xd7\xcd\xc6\x9a', '\x01\0\x09\0\0\x03'],
    'an icon': ['\0\0\x01\0\x01\0', '\0\0\x02\0\x01\0'],
    'an OpenEXR image': ['v/1\x01'],
    'a Radiance HDR image': ['#?RADIANCE', '#?RGBE'],
    'a QOI image': ['qoif'],
    'an SVG image': ['<svg xmlns="x">', '\xef\xbb\xbf<?xml version="1.0"?>\n<!-- x -->\n<svg>', '<!DOCTYPE svg><svg>'],
  },
  video: {
    'a 3GP video': [container('3gp4')],
    'a QuickTime video': [container('qt  ')],
    'a WebM video': ['\x1aE\xdf\xa3....B\x82\x84webm'],
    'a Matroska video': ['\x1aE\xdf\xa3....B\x82\x88matroska'],
    'an AVI video': ['RIFF....AVI LIST'],
    'an Ogg video': [`OggS${bytes(24)}\x80theora`, `OggS${bytes(24)}fishead`],
    'a Flash video': ['FLV\x01'],
    'a Windows Media file': ['\x30\x26\xb2\x75\x8e\x66\xcf\x11'],
    'an MPEG program stream': ['\0\0\x01\xba'],
    'an MPEG transport stream': [`G${bytes(187)}G`, `${bytes(4)}G${bytes(191)}G`],
  },
  audio: {
    'an M4A file': [container('M4A '), container('M4B ')],
    'an MP3 file': ['ID3\x04', '\xff\xfb\x90\x44'],
    'an AAC file': ['\xff\xf1\x50\x80'],
    'a WAV file': ['RIFF....WAVEfmt ', 'RF64....WAVE'],
    'an Ogg file': [`OggS${bytes(24)}\x01vorbis`],
    'a FLAC file': ['fLaC'],
    'an AIFF file': ['FORM....AIFF', 'FORM....AIFC'],
    'an AMR file': ['#!AMR\n'],
    'a CAF file': ['caff'],
    'an AC-3 file': ['\x0bw'],
    'an AAC file with an ADIF header': ['ADIF'],
    "a Monkey's Audio file": ['MAC '],
    'a Musepack file': ['MPCK', 'MP+'],
    'a WavPack file': ['wvpk'],
    'a TAK file': ['tBaK'],
    'a True Audio file': ['TTA1', 'TTA2'],
    'a DSD file': ['DSD ', 'FRM8'],
    'a Sun audio file': ['.snd'],
    'a MIDI file': ['MThd'],
  },
  other: {
    'an MP4 file': [container('isom', 'mp42'), `${bytes(4)}moov`],
    'a web page': ['<!DOCTYPE html>', ' <html>', '<head>', '<body>', '<script>', '<meta charset>', '<title>'],
    XML: ['<?xml version="1.0"?><rss>', '<!-- x --><feed>'],
    'a PDF document': ['%PDF-1.7'],
    'a ZIP archive': ['PK\x03\x04'],
    'a gzip archive': ['\x1f\x8b'],
    'a playlist': ['#EXTM3U'],
    'a pointer of Git LFS': ['version https://git-lfs.github.com/spec/v1'],
    'a data URL': ['data:image/png;base64,AAAA'],
    JSON: ['{"a": 1}', '[{}]', '{}'],
    'plain text': ['some words', 'M\xc3\xbcnchen', 'cut off: \xc3', '\t\r\n'],
  },
};

describe('a file is known by its first bytes as', () => {
  for (const [kind, names] of Object.entries(formats))
    for (const [name, starts] of Object.entries(names))
      test(name, () => {
        for (const start of starts)
          assert.deepEqual(formatOfBytes(Buffer.from(start, 'latin1')), { name, kind }, JSON.stringify(start));
      });

  test('none that we know', async (t) => {
    const path = join(await temporaryFolder(t), 'file');
    for (const start of ['', '\x02\x03', '\xc3(', 'words\0', 'words\x1b']) {
      await writeFile(path, start, 'latin1');
      assert.equal(await formatOfFile(path), undefined, JSON.stringify(start));
    }
    await writeFile(path, '%PDF-1.7');
    assert.equal((await formatOfFile(path))?.name, 'a PDF document');
  });
});
