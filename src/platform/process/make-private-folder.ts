import { mkdir, stat, chmod } from 'node:fs/promises';
import { errorOfFirstMissingParent, explainFolderError } from './folder-and-port-errors.ts';

/** Creates a folder that only this account can open, or restricts an existing one. Throws `SetupError`. */
export async function makePrivateFolder(path: string, setting: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { mode } = await stat(path);
    // A folder of another account, or a read-only one, may still be usable.
    if ((mode & 0o077) !== 0) await chmod(path, 0o700).catch(() => {});
  } catch (error) {
    throw explainFolderError(await errorOfFirstMissingParent(error, path), path, setting);
  }
}
