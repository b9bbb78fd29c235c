import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { findPostgresUrl, startPostgres } from '../../../../src/run/embedded/postgres/postgres-server.ts';
import { awkwardFolder, endProcessesAfterTests } from '../../../support/processes/embedded-processes.ts';

endProcessesAfterTests();

const setpriv = '/usr/bin/setpriv';
/** As in a container, where root lacks the capability to read the processes of other accounts. */
const inContainer = ['--bounding-set', '-sys_ptrace', process.execPath];
const canImitate = process.getuid?.() === 0 && spawnSync(setpriv, [...inContainer, '--version']).status === 0;

test('root finds the server of another account in a container, too', { skip: !canImitate }, async (t) => {
  const folder = await awkwardFolder();
  const { url, stop } = await startPostgres({ folder, log: () => undefined });
  t.after(stop);
  assert.equal(await findPostgresUrl(folder), url);
  const module = new URL('../../../../src/run/embedded/postgres/postgres-server.js', import.meta.url).href;
  const program = `import { findPostgresUrl } from ${JSON.stringify(module)};
    console.log(await findPostgresUrl(${JSON.stringify(folder)}));`;
  const found = execFileSync(setpriv, [...inContainer, '--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  assert.equal(found.trim(), url);
});
