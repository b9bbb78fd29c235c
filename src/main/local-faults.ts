import { chmod, mkdir, stat } from 'node:fs/promises';
import { errorCode, SetupError } from '../domain/errors.ts';

// What can be wrong with this machine at a start, as sentences for the person who starts the program.

/** Makes a folder that only this account can open, or closes an existing one to the others. Throws `SetupError`. */
export async function makePrivateFolder(path: string, setting: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { mode } = await stat(path);
    // A folder that belongs to somebody else, or is mounted for reading only, may still be of use.
    if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(() => {});
  } catch (error) {
    throw folderFault(error, path, setting);
  }
}

/** The sentence for a folder that cannot be used; any other error as it is. */
export function folderFault(error: unknown, path: string, setting: string): unknown {
  const code = errorCode(error);
  const reason = code === undefined ? undefined : folderReasons[code];
  if (reason === undefined) return error;
  const advice = `Start the program as the account that owns it, or set ${setting} to another folder.`;
  return new SetupError(`The folder ${path} cannot be used by this account: ${reason} (${code}). ${advice}`, {
    cause: error,
  });
}

const folderReasons: Readonly<Record<string, string>> = {
  EACCES: 'it belongs to another account',
  EPERM: 'it belongs to another account',
  EROFS: 'its disk can only be read',
  ENOTDIR: 'there is a file of that name',
  EEXIST: 'there is a file of that name',
};

/** The sentence for an address that cannot be listened on; any other error as it is. `setting` names the variable of the port. */
export function listenFault(cause: unknown, { host, port }: { host: string; port: number }, setting: string): unknown {
  const noAddress = `${host} is no address of this machine. Set HOST to one that is, or to 0.0.0.0 for all of them.`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is taken by another program. Stop that one, or set ${setting} to another port.`,
    EACCES: `This account may not listen on port ${port}. Set ${setting} to a port of 1024 or higher.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  const sentence = sentences[errorCode(cause) ?? ''];
  return sentence === undefined ? cause : new SetupError(sentence, { cause });
}
