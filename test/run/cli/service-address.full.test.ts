import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { recordServiceUrl } from '../../../src/run/embedded/data-folder-lock-and-files.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

// Commands in a terminal without the settings of the service, which runs on another port.

const serviceUrl = 'http://127.0.0.1:4000';

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

/** The data folder of a service that runs at `serviceUrl`. */
async function folderOfService(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  await recordServiceUrl(folder, serviceUrl);
  return folder;
}

async function run(folder: string, ...args: readonly string[]): Promise<Record<string, unknown>> {
  const { PUBLIC_URL: _, ...inherited } = process.env;
  const settings = { DATABASE_URL: database.url, VIDEOGEN_SECRET: 's'.repeat(32), VIDEOGEN_DATA: folder, PORT: '4001' };
  const { code, stdout, stderr } = await videogen({ ...inherited, ...settings }, ...args, '--json');
  assert.equal(code, 0, stderr);
  // A command with --json prints one JSON object.
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('a link leads to the service that runs on the data folder, else to HOST:PORT', async (t) => {
  const ofService = await run(await folderOfService(t), 'user', 'setup-link');
  assert.match(String(ofService['url']), /^http:\/\/127\.0\.0\.1:4000\/console\/setup#/);
  const withoutService = await run(await temporaryFolder(t), 'user', 'setup-link');
  assert.match(String(withoutService['url']), /^http:\/\/127\.0\.0\.1:4001\/console\/setup#/);
});
