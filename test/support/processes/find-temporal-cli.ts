import { homedir } from 'node:os';
import { join } from 'node:path';
import { findOrDownloadTemporalCli } from '../../../src/run/embedded/temporal/temporal-cli.ts';

/** The program for tests: from the cache that the service uses by default, so that it is fetched once per machine. */
export function testTemporalCli(): Promise<string> {
  return findOrDownloadTemporalCli({ cacheFolder: join(homedir(), '.cache', 'videogen'), log: () => undefined });
}
