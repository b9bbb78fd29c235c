import { execFile } from 'node:child_process';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { promisify } from 'node:util';
import pg from 'pg';
import { readConfig } from '../src/run/config/config.ts';
import { findOrDownloadFfmpeg } from '../src/run/embedded/find-or-download-ffmpeg.ts';
import type { Bench } from './bench.ts';
import { benchTemporalCli } from './servers.ts';

const run = promisify(execFile);

/**
 * Returns the pinned ffmpeg, as in every installation, unless FFMPEG_PATH is
 * set.
 */
export function benchFfmpeg(): Promise<string> {
  const { ffmpegPath: explicitPath, cacheFolder } = readConfig();
  return findOrDownloadFfmpeg({ explicitPath, cacheFolder, log: (line) => void process.stderr.write(`${line}\n`) });
}

/** Describes the machine and the versions, one per line. */
export async function machine(
  bench: Bench,
  loadBefore: number,
  serverPath: string | undefined,
): Promise<readonly string[]> {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return [
    `${cpus().length} × ${first?.model.trim()}, ${memory}, ${type()} ${release()}, load average ${loadBefore.toFixed(2)} before and ${loadavg()[0]?.toFixed(2)} after`,
    `Node ${process.version}, PostgreSQL ${await postgresVersion(bench.postgresUrl)}, ${await firstLine(await benchTemporalCli(), '--version')}`,
    ...(serverPath === undefined ? [] : [`Temporal production server: ${await firstLine(serverPath, '--version')}`]),
    await firstLine(await benchFfmpeg(), '-version'),
  ];
}

/** Returns the load average; it is read before the bench causes any load. */
export function loadNow(): number {
  return loadavg()[0] ?? Number.NaN;
}

async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string; fsync: string }>(
    `select current_setting('server_version') as server_version, current_setting('fsync') as fsync`,
  );
  await client.end();
  return `${rows[0]?.server_version} (fsync ${rows[0]?.fsync})`;
}

async function firstLine(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args);
  return stdout.split('\n')[0]?.replace(/ Copyright.*/, '') ?? '';
}
