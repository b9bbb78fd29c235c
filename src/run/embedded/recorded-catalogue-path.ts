import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';

// A service records which catalogue it runs with, for commands in another shell.

const pathIn = (dataFolder: string) => join(dataFolder, 'catalogue');

/** `file` is undefined for the built-in catalogue. */
export async function recordCataloguePath(dataFolder: string, file: string | undefined): Promise<void> {
  if (file === undefined) await rm(pathIn(dataFolder), { force: true });
  else await writeFile(pathIn(dataFolder), `${file}\n`, { mode: 0o600 });
}

/** Returns the catalogue of the last service on this folder; undefined for the built-in one. */
export function readRecordedCatalogue(dataFolder: string): string | undefined {
  try {
    const file = readFileSync(pathIn(dataFolder), 'utf8').trim();
    return isAbsolute(file) ? file : undefined;
  } catch {
    return undefined;
  }
}
