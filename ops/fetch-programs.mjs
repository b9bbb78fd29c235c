// A step of `npm ci`, in the script `prepare`: downloads the programs that the first start and the tests need besides the installed packages,
// so that neither needs the network. What cannot be downloaded now is downloaded at the first start, so a failure is only a warning.
// VIDEOGEN_SKIP_DOWNLOADS=1 skips it.
import { existsSync } from 'node:fs';
import { readConfig } from '../dist/src/run/config/config.js';
import { ffmpegCachePath, findOrDownloadFfmpeg } from '../dist/src/run/embedded/find-or-download-ffmpeg.js';
import { temporalCliCachePath, findOrDownloadTemporalCli } from '../dist/src/run/embedded/temporal/temporal-cli.js';

const log = (message) => process.stderr.write(`${message}\n`);
const warn = (error) => log(`warning: ${error.message}`);

await fetchAll().catch(warn);

async function fetchAll() {
  const { skipDownloads, cacheFolder, path: searchPath, temporalCliPath, ffmpegPath } = readConfig();
  if (skipDownloads) return;
  const search = { cacheFolder, log };
  if (!existsSync(ffmpegCachePath(cacheFolder)))
    await findOrDownloadFfmpeg({ ...search, explicitPath: ffmpegPath }).catch(warn);
  if (!existsSync(temporalCliCachePath(cacheFolder)))
    await findOrDownloadTemporalCli({ ...search, explicitPath: temporalCliPath, searchPath }).catch(warn);
  const tests = new URL('../dist/test/support/servers/temporal-test-server.js', import.meta.url);
  if (!existsSync(tests)) return;
  const { fetchTestServer } = await import(tests.href);
  await fetchTestServer(cacheFolder, log).catch(warn);
}
