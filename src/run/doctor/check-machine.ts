import { access, constants, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { configureFontconfig } from '../config/config.ts';
import { errorCode, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { isOlderVersion } from '../../platform/process/compare-versions.ts';
import { maxUploadBytesAtOnce } from '../../api/core/limits/upload-slots.ts';
import { inspectFfmpeg } from '../../media/ffmpeg/ffmpeg-binary.ts';
import { makePrivateFolder } from '../../platform/process/make-private-folder.ts';
import { tasksQueueOptions } from '../main/worker-options.ts';
import { failure, type Finding, ok, warning } from './checks-and-findings.ts';
import {
  diskErrorFinding,
  type SpaceThresholds,
  checkFreeSpace,
  videoSpaceThresholds,
} from './check-store-and-disk.ts';

const leastNode = '20.19';

export function checkNode(version = process.versions.node): Finding {
  const shown = `Node.js ${version}`;
  if (!isOlderVersion(version, leastNode)) return ok('node', shown);
  return failure('node', shown, `Install Node.js ${leastNode} or newer.`);
}

const megabyte = 1024 * 1024;
/** An API or a worker that follows jobs needs about 250 MB; rendering a video or decoding a large image takes several hundred more. */
const leastMegabytes = (renders: boolean) => (renders ? 1024 : 512);

export function checkMemory(renders: boolean, limitBytes = process.constrainedMemory()): Finding {
  const total = totalmem();
  // Without a limit the system returns 0, or more than any machine has.
  const isLimited = limitBytes > 0 && limitBytes < total;
  const megabytes = Math.round((isLimited ? limitBytes : total) / megabyte);
  const shown = `${megabytes} MB${isLimited ? ', the limit of this container' : ''}`;
  const least = leastMegabytes(renders);
  if (megabytes >= least) return ok('memory', shown);
  return warning(
    'memory',
    `${shown}; below ${least} MB a large image or video may end the process`,
    'Raise the limit.',
  );
}

/** An API stores several uploaded files while it checks them. */
export const uploadSpaceThresholds: SpaceThresholds = {
  leastBytes: maxUploadBytesAtOnce,
  enoughBytes: 1.2 * maxUploadBytesAtOnce,
};

/** These folders must be writable even where the file system is read-only. */
export async function checkFolders(workFolder: string, storesVideos: boolean): Promise<readonly Finding[]> {
  const space = storesVideos ? videoSpaceThresholds : uploadSpaceThresholds;
  return [
    ...(await folderFindings('work folder', workFolder, 'VIDEOGEN_DATA', space)),
    ...(await folderFindings('temporary folder', tmpdir(), 'TMPDIR', space)),
  ];
}

async function folderFindings(
  check: string,
  path: string,
  setting: string,
  space: SpaceThresholds,
): Promise<readonly Finding[]> {
  try {
    if (setting === 'VIDEOGEN_DATA') await makePrivateFolder(path, setting);
    await rmdir(await mkdtemp(join(path, 'videogen-doctor-')));
    return await checkFreeSpace(check, path, space);
  } catch (error) {
    const ofDisk = diskErrorFinding(check, path, error);
    if (ofDisk !== undefined) return [ofDisk];
    const remedy = `Set ${setting} to a folder that this account may write to; a file system that is read only needs a volume there.`;
    return [failure(check, `${path} is not writable (${errorCode(error) ?? messageOf(error)})`, remedy)];
  }
}

export async function checkFfmpeg(path: string | undefined, signal: AbortSignal): Promise<readonly Finding[]> {
  const install = 'Install ffmpeg with libx264 on the PATH, or set FFMPEG_PATH.';
  try {
    const found = await inspectFfmpeg(path, signal);
    const shown = `ffmpeg ${found.version} (${found.path})`;
    if (found.missing.length === 0) return [ok('ffmpeg', shown)];
    return [failure('ffmpeg', `${shown} lacks the encoders ${found.missing.join(', ')}`, install)];
  } catch (error) {
    return [failure('ffmpeg', `none found: ${messageOf(error)}`, install)];
  }
}

/** Draws a letter with our font, because a missing library or font would leave titles empty. */
export async function checkFonts(): Promise<readonly Finding[]> {
  const settings = await mkdtemp(join(tmpdir(), 'videogen-fonts-'));
  try {
    configureFontconfig(settings);
    return await drawLetters();
  } finally {
    await rm(settings, { recursive: true, force: true });
  }
}

async function drawLetters(): Promise<readonly Finding[]> {
  const { drawText } = await import('../../providers/preview/titles/render-text-picture.ts');
  const { rgba } = await drawText('V', { weight: 'Bold' }, 40);
  if (!rgba.some((byte) => byte !== 0))
    return [failure('fonts', 'titles are drawn without ink', 'Install the packages of this release again: npm ci')];
  return [ok('fonts', 'titles are drawn')];
}

export async function checkWorkflowBundle(): Promise<readonly Finding[]> {
  const path = tasksQueueOptions.workflowBundle.codePath;
  return await access(path, constants.R_OK).then(
    () => [],
    () => [failure('workflows', `${path} is missing`, 'Build the release again: npm run build')],
  );
}
