import { chmod, rename, rm } from 'node:fs/promises';
import { temporalCliVersion } from './temporal-cli-version.ts';

/** Gives a fetched program its final name once it has shown that it runs here and is the version asked for; removes it otherwise. */
export async function installTemporalCli(fetched: string, target: string, version: string): Promise<void> {
  try {
    await chmod(fetched, 0o755);
    const found = await temporalCliVersion(fetched);
    if (found?.cli !== version) throw new Error(`what came is not Temporal's command line ${version} for this system`);
    await rename(fetched, target);
  } finally {
    await rm(fetched, { force: true });
  }
}
