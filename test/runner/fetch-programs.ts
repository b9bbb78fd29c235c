import { readConfig } from '../../src/config/config.ts';
import { findFfmpeg } from '../../src/embedded/ffmpeg.ts';
import { findTemporalCli } from '../../src/embedded/temporal-cli.ts';
import { messageOf } from '../../src/platform/errors.ts';
import { fetchTestServer } from '../support/time-skipping.ts';

// A step of `npm ci`: downloads the programs that the first start and the tests need besides the installed packages, so that neither needs
// the network. What cannot be downloaded now is downloaded at the first start, so a failure is only a warning.
// VIDEOGEN_SKIP_DOWNLOADS=1 skips it.

const log = (message: string) => process.stderr.write(`${message}\n`);

await fetchAll().catch(warn);

async function fetchAll(): Promise<void> {
  const { skipDownloads, cacheFolder, path: searchPath, temporalCliPath, ffmpegPath } = readConfig();
  if (skipDownloads) return;
  await findFfmpeg({ explicitPath: ffmpegPath, cacheFolder, log }).catch(warn);
  await findTemporalCli({ explicitPath: temporalCliPath, cacheFolder, searchPath, log }).catch(warn);
  await fetchTestServer(cacheFolder, log).catch(warn);
}

function warn(error: unknown): void {
  log(`warning: ${messageOf(error)}`);
}
