import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createLog, type Log } from '../log.ts';
import { boundServerLog } from './server-log.ts';

/** The log of the whole service: a file in the data folder, since the terminal belongs to the person who started it. */
export async function openLog({ dataFolder, logLevel }: Config): Promise<{ log: Log; path: string }> {
  await mkdir(dataFolder, { recursive: true });
  const path = join(dataFolder, 'videogen.log');
  await boundServerLog(path);
  return { log: createLog({ level: logLevel, path }), path };
}
