import { join } from 'node:path';
import { requireFfmpeg } from '../../media/ffmpeg/ffmpeg-binary.ts';
import { messageOf, SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { downloadProgram, type PypiProgram, type ProgramSearch } from './download-program.ts';

const version = '9.0.2';
/** The package `imageio-ffmpeg` 0.8.1, GPL version 3. The Dockerfile pins the same one. */
const pinnedFfmpeg: PypiProgram = {
  title: `ffmpeg ${version}`,
  file: /\/binaries\/ffmpeg-[^/]+$/,
  wheels: {
    'linux-x64': {
      path: 'de/0f/49292fbef69ee10ebcf97bb741602521caafcc6966d5fa1a2b868cc15655/imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_x86_64.whl',
      sha256: '050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda',
    },
    'linux-arm64': {
      path: '53/02/e139e53a71f33f728cb2ce6c1124edc29e4c008427923f01a4d37f9a1867/imageio_ffmpeg-0.8.1-py3-none-manylinux_2_28_aarch64.whl',
      sha256: 'fad3176f859b25869e60a8ed79957d4e3ed74a97a95e5f0cdcb91455f6c6d00e',
    },
    'darwin-arm64': {
      path: '2b/47/9f9b654f853598bae0850fa22bba168103e45d31b5a2a893ed474f28d54a/imageio_ffmpeg-0.8.1-py3-none-macosx_12_0_arm64.whl',
      sha256: '5636d691e36e5274b13fe38182b1f627b2e35dcecc63944012c2470f9484fc45',
    },
    'darwin-x64': {
      path: 'da/24/2c3a7c69453bfb8374ddbbb5007346bad4a4247bc86882f3521cd615f929/imageio_ffmpeg-0.8.1-py3-none-macosx_10_13_x86_64.whl',
      sha256: '9538a10e598257263b5de1a1c1b86e7603417bc219245b1e279b452e5e48cc20',
    },
  },
};

export function ffmpegCachePath(cacheFolder: string): string {
  return join(cacheFolder, `ffmpeg-${version}`);
}

/**
 * Returns the explicit program, else the pinned version, downloaded once, so that every installation decodes untrusted files with the
 * same current build. If PyPI is unreachable, a program on the PATH replaces it.
 */
export async function findOrDownloadFfmpeg({ explicitPath, cacheFolder, log, files }: ProgramSearch): Promise<string> {
  if (explicitPath !== undefined) return requireFfmpeg(explicitPath);
  const cached = ffmpegCachePath(cacheFolder);
  if (runs(cached)) return cached;
  log(`Downloading ${pinnedFfmpeg.title} (about 65 MB, once) to ${cacheFolder}.`);
  try {
    await downloadProgram(pinnedFfmpeg, { target: cached, log, files });
    if (runs(cached)) return cached;
    throw new Error('the program does not run on this machine');
  } catch (cause) {
    const reason = `ffmpeg could not be downloaded (${messageOf(cause)}).`;
    if (runs('ffmpeg')) {
      log(`${reason} Using the one on the PATH.`);
      return 'ffmpeg';
    }
    throw new SetupError(`${reason} Install ffmpeg on the PATH, or set FFMPEG_PATH.`, { cause });
  }
}

function runs(binary: string): boolean {
  try {
    requireFfmpeg(binary);
    return true;
  } catch {
    return false;
  }
}
