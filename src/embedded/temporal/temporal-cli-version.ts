import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type TemporalCliVersion = { readonly cli: string; readonly server: string };

/** What the program says it is; undefined when it is missing, does not run here, or is another program of that name. */
export async function temporalCliVersion(path: string): Promise<TemporalCliVersion | undefined> {
  try {
    const { stdout } = await run(path, ['--version'], { timeout: 20_000 });
    const match = /^temporal version (\S+) \(Server ([\d.]+)/m.exec(stdout);
    const [, cli, server] = match ?? [];
    return cli === undefined || server === undefined ? undefined : { cli, server };
  } catch {
    return undefined;
  }
}
