import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { startService } from '../../../src/run/embedded/start-service.ts';
import { SetupError } from '../../../src/platform/setup-errors-and-error-messages.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

for (const setting of ['PORT', 'METRICS_PORT'])
  test(`npm start with a ${setting} that is taken names it, and creates nothing`, async (t) => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo; // a listening TCP server has one
    const data = join(await temporaryFolder(t), 'data');
    const config = readConfig({ VIDEOGEN_DATA: data, PORT: '0', [setting]: String(port) });
    const start = startService(config, () => {}, new AbortController().signal);
    await assert.rejects(start, (error) => error instanceof SetupError && error.message.includes(`set ${setting}`));
    assert.equal(existsSync(data), false);
  });
