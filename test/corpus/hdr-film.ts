import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FfmpegRunner } from '../../src/catalogue/media/ffmpeg-runner-types.ts';

// A film of four patches in the codes of PQ or HLG. The formulas are those of the standards, in the opposite direction of src/media/ffmpeg/hdr.ts.

type Color = readonly [red: number, green: number, blue: number];

/** Colors of BT.709 with 8 bits, below the part of the range that is compressed, and white. */
export const patches: readonly Color[] = [
  [200, 90, 70],
  [90, 160, 100],
  [90, 100, 200],
  [255, 255, 255],
];
export const patchPx = 80;

const toBt2020 = [
  [0.627404, 0.329283, 0.043313],
  [0.069097, 0.91954, 0.011362],
  [0.016391, 0.088013, 0.895595],
];
const whiteNits = 203;

function pqCode(nits: number): number {
  const power = (nits / 10_000) ** 0.1593017578125;
  return ((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power)) ** 78.84375;
}

function hlgCode(scene: number): number {
  return scene <= 1 / 12 ? Math.sqrt(3 * scene) : 0.17883277 * Math.log(12 * scene - 0.28466892) + 0.55991073;
}

export function codesOf(color: Color, curve: 'pq' | 'hlg'): readonly number[] {
  const light = color.map((value) => (value / 255) ** 2.4 * whiteNits);
  const wide = toBt2020.map((row) => row.reduce((sum, weight, index) => sum + weight * (light[index] ?? 0), 0));
  if (curve === 'pq') return wide.map(pqCode);
  const luminance = (0.2627 * (wide[0] ?? 0) + 0.678 * (wide[1] ?? 0) + 0.0593 * (wide[2] ?? 0)) / 1000;
  return wide.map((nits) => hlgCode((nits / 1000) * luminance ** (1 / 1.2 - 1)));
}

type Film = {
  readonly name: string;
  readonly curve: 'pq' | 'hlg';
  readonly codec: 'hevc' | 'avc';
  readonly frames?: number;
};

/** Writes the film to a folder: HEVC with 10 bits as phones record it, or H.264 with 8 bits. */
export async function makeHdrFilm(
  ffmpeg: FfmpegRunner,
  cwd: string,
  { name, curve, codec, frames = 24 }: Film,
): Promise<void> {
  const row = Buffer.concat(patches.map((color) => pixelsOf(codesOf(color, curve))));
  const raw = Buffer.concat(Array.from({ length: patchPx * 2 }, () => row));
  await writeFile(join(cwd, 'patches.raw'), raw);
  const size = `${patchPx * patches.length}x${patchPx * 2}`;
  const input = [
    '-f',
    'rawvideo',
    '-pix_fmt',
    'rgb48le',
    '-s',
    size,
    '-stream_loop',
    `${frames - 1}`,
    '-r',
    '12',
    '-i',
    'patches.raw',
  ];
  const format = codec === 'hevc' ? 'yuv420p10le' : 'yuv420p';
  const filters = `scale=out_color_matrix=bt2020:out_range=tv,format=${format}`;
  const transfer = curve === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const tags = ['-color_primaries', 'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc', '-color_range', 'tv'];
  const names = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc`;
  const encoder =
    codec === 'hevc'
      ? [
          '-c:v',
          'libx265',
          '-preset',
          'ultrafast',
          '-crf',
          '10',
          '-x265-params',
          `log-level=error:${names}`,
          '-tag:v',
          'hvc1',
        ]
      : ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '10', '-x264-params', names];
  await ffmpeg({
    args: [...input, '-vf', filters, ...encoder, ...tags, '-movflags', '+faststart', name],
    cwd,
    signal: AbortSignal.timeout(600_000),
  });
}

function pixelsOf(codes: readonly number[]): Buffer {
  const pixel = Buffer.alloc(6);
  for (const [channel, code] of codes.entries()) pixel.writeUInt16LE(Math.round(code * 65_535), channel * 2);
  return Buffer.concat(Array.from({ length: patchPx }, () => pixel));
}
