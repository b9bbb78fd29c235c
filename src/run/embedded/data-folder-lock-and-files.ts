import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { leastSecretLength } from '../config/setting-kinds.ts';
import { errorCode, SetupError } from '../../platform/setup-errors-and-error-messages.ts';
import { createLog, type Log } from '../../platform/log/log.ts';
import { explainFolderError } from '../../platform/process/folder-and-port-errors.ts';
import { makePrivateFolder } from '../../platform/process/make-private-folder.ts';
import { rotateServerLogIfLarge, rotateLogPeriodically } from './server-log.ts';

/**
 * Creates the data folder, closed to other accounts, and locks it until `release` or the end of the process. The operating system holds
 * the lock, so it is never stale. It does not work between two containers that share a folder.
 */
export async function lockDataFolder(folder: string): Promise<{ readonly release: () => Promise<void> }> {
  await makePrivateFolder(folder, 'VIDEOGEN_DATA');
  const path = join(folder, 'videogen.lock');
  try {
    const unlock = await (process.platform === 'linux' ? bindName(folder) : openExclusively(path));
    await writeFile(path, `${process.pid}\n`);
    const release = async () => {
      await rm(path, { force: true });
      await unlock();
    };
    return { release };
  } catch (error) {
    if (!['EADDRINUSE', 'EAGAIN'].includes(errorCode(error) ?? ''))
      throw explainFolderError(error, folder, 'VIDEOGEN_DATA');
    const owner = await readFile(path, 'utf8').catch(() => 'unknown');
    const advice = 'Stop that one first, or set VIDEOGEN_DATA to another folder.';
    throw new SetupError(`The data folder ${folder} is in use by process ${owner.trim()}. ${advice}`, { cause: error });
  }
}

/** Linux: an abstract socket address (unix(7)) belongs to one process and vanishes with it; EADDRINUSE when it is taken. */
async function bindName(folder: string): Promise<() => Promise<void>> {
  const { dev, ino } = await stat(folder);
  const server = createServer((socket) => socket.destroy()).unref();
  await once(server.listen(`\0videogen-data-folder-${dev}-${ino}`), 'listening');
  return () => new Promise((resolve) => server.close(() => resolve()));
}

/** macOS: open(2) locks with O_EXLOCK, which Node passes on but does not name; EAGAIN when another process has it. */
async function openExclusively(path: string): Promise<() => Promise<void>> {
  const exclusiveLock = 0x20;
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | exclusiveLock, 0o600);
  return () => file.close();
}

/** Signs links and encrypts callback secrets. It is created once and never replaced, because only it decrypts them. */
export async function readOrCreateSecret(folder: string): Promise<string> {
  const path = join(folder, 'secret');
  let problem: string;
  try {
    const secret = (await readFile(path, 'utf8')).trim();
    if (secret.length >= leastSecretLength) return secret;
    problem = `is damaged: it has ${secret.length} characters`;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return createRandomSecretFile(path);
    problem = `cannot be read (${errorCode(error) ?? String(error)})`;
  }
  const advice =
    'Restore it from a backup. If there is none, delete the file: a new secret is created, earlier links stop working, ' +
    'and every account needs a new callback secret (`videogen callback-secret rotate --account ACCOUNT`).';
  throw new SetupError(`The secret in ${path} ${problem}. ${advice}`);
}

/** Creates a secret in a file, atomically also if the machine crashes. */
export async function createRandomSecretFile(path: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await writeFile(`${path}.new`, `${secret}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  return secret;
}

/** The service logs to a file, because the terminal shows only messages for the operator. */
export async function openLog({
  dataFolder,
  logLevel,
}: Pick<Config, 'dataFolder' | 'logLevel'>): Promise<{ log: Log; path: string }> {
  const path = join(dataFolder, 'videogen.log');
  await rotateServerLogIfLarge(path).catch(() => {});
  rotateLogPeriodically(path);
  return { log: createLog({ level: logLevel, path }), path };
}

/** Records the address of the service, by which commands find it. */
export async function recordServiceUrl(folder: string, url: string): Promise<{ readonly remove: () => Promise<void> }> {
  const path = join(folder, addressFile);
  await writeFile(path, `${url}\n`, { mode: 0o600 });
  return { remove: () => rm(path, { force: true }) };
}

/** Returns the address of the service that runs on this folder, or was killed there. */
export async function readServiceUrl(folder: string): Promise<string | undefined> {
  const url = (await readFile(join(folder, addressFile), 'utf8').catch(() => '')).trim();
  return URL.canParse(url) ? url : undefined;
}

const addressFile = 'address';
