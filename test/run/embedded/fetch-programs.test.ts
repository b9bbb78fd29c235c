import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const offline = 'data:text/javascript,globalThis.fetch=()=>Promise.reject(new Error("no network"))';

/** Runs the step of `npm ci` on a machine without a network, with an empty cache. */
async function fetchOffline(t: TestContext, env: NodeJS.ProcessEnv) {
  const cache = join(await temporaryFolder(t), 'cache');
  const surroundings = { HOME: cache, PATH: '/nowhere', XDG_CACHE_HOME: cache, ...env };
  const { status, stderr } = spawnSync(process.execPath, ['--import', offline, 'ops/fetch-programs.mjs'], {
    env: surroundings,
    encoding: 'utf8',
  });
  return { status, lines: stderr.trimEnd().split('\n'), isCached: existsSync(cache) };
}

test('without a network npm ci succeeds, with a warning for each program that it could not download', async (t) => {
  const { status, lines, isCached } = await fetchOffline(t, {});
  assert.equal(status, 0);
  const warnings = lines.filter((line) => line.startsWith('warning: '));
  assert.match(warnings[0] ?? '', /ffmpeg could not be downloaded \(.* is unreachable: no network\)/);
  assert.match(warnings[1] ?? '', /Temporal's command line could not be downloaded/);
  assert.match(warnings[2] ?? '', /is unreachable: no network/);
  assert.equal(warnings.length, 3);
  assert.ok(!isCached);
});

test('VIDEOGEN_SKIP_DOWNLOADS=1 downloads nothing, and an invalid setting does not fail npm ci', async (t) => {
  assert.deepEqual(await fetchOffline(t, { VIDEOGEN_SKIP_DOWNLOADS: '1' }), {
    status: 0,
    lines: [''],
    isCached: false,
  });
  const invalid = await fetchOffline(t, { PORT: 'x' });
  assert.equal(invalid.status, 0);
  assert.match(invalid.lines.join('\n'), /^warning: .*PORT: must be a whole number/s);
});
