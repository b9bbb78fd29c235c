import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createProviderClient } from '../../src/outbound/provider-client.ts';
import { downloadResult } from '../../src/providers/download-result.ts';

const video = await readFile(fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4')));

/** Google Cloud Storage answers 400 to a link that has expired. */
const expired = '<Error><Code>ExpiredToken</Code><Message>Invalid argument.</Message></Error>';

describe('the video of a job that succeeded', () => {
  for (const [title, answer] of [
    ['has expired, and answers 400', (response: ServerResponse) => void response.writeHead(400).end(expired)],
    ['breaks without a byte again and again', (response: ServerResponse) => void response.destroy()],
  ] as const) {
    test(`is downloaded from a fresh link when the first one ${title}`, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'videogen-download-'));
      const server = createServer((request, response) => {
        if (request.url === '/first') answer(response);
        else response.end(video);
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // a listening TCP server has one
      const downloadLimits = { firstPauseMs: 1, maxPauseMs: 2 };
      const client = createProviderClient({ baseUrl: `http://127.0.0.1:${port}`, downloadLimits });
      t.after(async () => {
        await client.close();
        server.close();
        await rm(folder, { recursive: true });
      });
      const links = ['/first', '/second'];
      const { signal } = new AbortController();
      const { path } = await downloadResult(
        client,
        async () => links.shift() ?? assert.fail('no third link is needed'),
        { workFolder: folder, signal },
        () => {},
      );
      assert.deepEqual(await readFile(path), video);
    });
  }
});
