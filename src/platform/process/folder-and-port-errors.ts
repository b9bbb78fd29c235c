import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode, SetupError } from '../setup-errors-and-error-messages.ts';

// Explains errors of folders and ports to the operator who starts the program.

/** Node reports ENOENT for every folder that cannot be created with its parents. The first missing one has the reason. */
export async function errorOfFirstMissingParent(error: unknown, path: string): Promise<unknown> {
  if (errorCode(error) !== 'ENOENT') return error;
  const parent = dirname(path);
  if (parent !== path && !(await exists(parent))) return errorOfFirstMissingParent(error, parent);
  try {
    await mkdir(path, { mode: 0o700 });
    return error;
  } catch (cause) {
    return cause;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    return errorCode(error) !== 'ENOENT';
  }
}

/** Explains why a folder is unusable; returns any other error unchanged. */
export function explainFolderError(error: unknown, path: string, setting: string): unknown {
  const code = errorCode(error);
  const reason = code === undefined ? undefined : folderReasons[code];
  if (reason === undefined) return error;
  const otherFolder = `or set ${setting} to another folder.`;
  const [outcome, advice] =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? ['written', 'Free some space on its disk,']
      : code === 'EROFS'
        ? ['written', 'Mount its disk for writing,']
        : ['used by this account', 'Start the program as the account that owns it,'];
  const message = `The folder ${path} cannot be ${outcome}: ${reason} (${code}). ${advice} ${otherFolder}`;
  return new SetupError(message, { cause: error });
}

const folderReasons: Readonly<Record<string, string>> = {
  EACCES: 'it belongs to another account',
  EPERM: 'it belongs to another account',
  EROFS: 'its disk can only be read',
  ENOENT: 'no folder can be created there',
  ENOSPC: 'its disk is full',
  EDQUOT: 'its quota is used up',
  ENOTDIR: 'there is a file of that name',
  EEXIST: 'there is a file of that name',
};

/** Explains why an address cannot be listened on; returns any other error unchanged. `setting` is the variable of the port. */
export function explainListenError(
  cause: unknown,
  { host, port }: { host: string; port: number },
  setting: string,
): unknown {
  const noAddress = `${host} is not an address of this machine. Set HOST to one that is, or to 0.0.0.0 for all of them.`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is in use by another program. Stop it, or set ${setting} to another port.`,
    EACCES: `This account may not listen on port ${port}. Set ${setting} to a port of 1024 or higher.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  const sentence = sentences[errorCode(cause) ?? ''];
  return sentence === undefined ? cause : new SetupError(sentence, { cause });
}
