import { access, constants, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { provideFontSettings } from '../../config.ts';
import { errorCode, messageOf } from '../../domain/errors.ts';
import { maxUploadBytes } from '../../domain/upload.ts';
import type { QueueName } from '../../domain/worker-queues.ts';
import { inspectFfmpeg } from '../../media/ffmpeg-binary.ts';
import { makePrivateFolder } from '../local-faults.ts';
import { mainQueue } from '../worker-options.ts';
import { fault, type Finding, ok, warning } from './finding.ts';
import { type Space, spaceFindings, spaceForVideos } from './check-store.ts';

const leastNode = [20, 19] as const;

export function checkNode(version = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOlder = major < leastNode[0] || (major === leastNode[0] && minor < leastNode[1]);
  const remedy = `Install Node.js ${leastNode.join('.')} or newer.`;
  return isOlder ? fault('node', `Node.js ${version}`, remedy) : ok('node', `Node.js ${version}`);
}

const megabyte = 1024 * 1024;
/** An API or a follower needs some 250 MB; a film or a large image takes several hundred more. */
const leastMegabytes = (renders: boolean) => (renders ? 1024 : 512);

/** What this process may use: the limit of its container, else the machine's. */
export function checkMemory(renders: boolean, limitBytes = process.constrainedMemory()): Finding {
  const total = totalmem();
  // Without a limit the system answers 0, or a number beyond any memory.
  const isLimited = limitBytes > 0 && limitBytes < total;
  const megabytes = Math.round((isLimited ? limitBytes : total) / megabyte);
  const said = `${megabytes} MB${isLimited ? ', the limit of this container' : ''}`;
  const least = leastMegabytes(renders);
  if (megabytes >= least) return ok('memory', said);
  return warning('memory', `${said}; below ${least} MB a large image or video may end the process`, 'Raise the limit.');
}

/** Of an API, where images lie that are being checked, several at a time. */
export const spaceForUploads: Space = { leastBytes: 5 * maxUploadBytes, enoughBytes: 20 * maxUploadBytes };

/** The folders that must be written to, however the rest of the file system is mounted. */
export async function checkFolders(workFolder: string, keepsVideos: boolean): Promise<readonly Finding[]> {
  const space = keepsVideos ? spaceForVideos : spaceForUploads;
  return [
    ...(await folderFindings('work folder', workFolder, 'VIDEOGEN_DATA', space)),
    ...(await folderFindings('temporary folder', tmpdir(), 'TMPDIR', space)),
  ];
}

async function folderFindings(check: string, path: string, setting: string, space: Space): Promise<readonly Finding[]> {
  try {
    if (setting === 'VIDEOGEN_DATA') await makePrivateFolder(path, setting);
    await rmdir(await mkdtemp(join(path, 'videogen-doctor-')));
    return await spaceFindings(check, path, space);
  } catch (error) {
    const remedy = `Set ${setting} to a folder that this account may write to; a file system that is read only needs a volume there.`;
    return [fault(check, `${path} cannot be written to (${errorCode(error) ?? messageOf(error)})`, remedy)];
  }
}

export async function checkFfmpeg(path: string | undefined, signal: AbortSignal): Promise<readonly Finding[]> {
  const install = 'Install ffmpeg with libx264 on the PATH, or set FFMPEG_PATH.';
  try {
    const found = await inspectFfmpeg(path, signal);
    const said = `ffmpeg ${found.version} (${found.path})`;
    if (found.missing.length === 0) return [ok('ffmpeg', said)];
    return [fault('ffmpeg', `${said} lacks the encoders ${found.missing.join(', ')}`, install)];
  } catch (error) {
    return [fault('ffmpeg', `none found: ${messageOf(error)}`, install)];
  }
}

/** Draws a letter of our own font, and one that only the fonts of the machine have. */
export async function checkFonts(): Promise<readonly Finding[]> {
  const settings = await mkdtemp(join(tmpdir(), 'videogen-fonts-'));
  try {
    provideFontSettings(settings);
    return await drawLetters();
  } finally {
    await rm(settings, { recursive: true, force: true });
  }
}

async function drawLetters(): Promise<readonly Finding[]> {
  const { drawnText } = await import('../../providers/preview/titles/drawn-text.ts');
  const { rgba } = await drawnText('V', { weight: 'Bold' }, 40);
  if (!rgba.some((byte) => byte !== 0))
    return [fault('fonts', 'titles are drawn without ink', 'Install the packages of this release again: npm ci')];
  return [ok('fonts', 'titles are drawn')];
}

/** What the build makes and a worker of workflows reads. */
export async function checkBundle(queues: readonly QueueName[]): Promise<readonly Finding[]> {
  if (!queues.includes('tasks')) return [];
  const path = mainQueue.workflowBundle.codePath;
  return await access(path, constants.R_OK).then(
    () => [],
    () => [fault('workflows', `${path} is missing`, 'Build the release again: npm run build')],
  );
}
