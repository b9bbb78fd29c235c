import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { downloadResult } from '../../src/providers/download-result.ts';
import { fakeVideoPath } from '../fakes/restartable-server.ts';
import { serve } from '../support/servers/serve.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { signal } from './contract/job-request.ts';
import { clientFor } from './loopback-client.ts';

const video = await readFile(fakeVideoPath);

/** Google Cloud Storage answers 400 to a link that has expired. */
const expired = '<Error><Code>ExpiredToken</Code><Message>Invalid argument.</Message></Error>';

describe('the video of a job that succeeded', () => {
  test('is left to another worker when it cannot be written here', async (t) => {
    const baseUrl = await serve(t, (_request, response) => void response.end(video));
    const workFolder = join(await temporaryFolder(t), 'missing');
    const downloaded = downloadResult(
      clientFor(baseUrl),
      async () => '/video',
      { workFolder, signal },
      () => {},
    );
    await assert.rejects(downloaded, { code: 'ENOENT' });
  });

  for (const [title, answer] of [
    ['has expired, and answers 400', (response: ServerResponse) => void response.writeHead(400).end(expired)],
    ['breaks without a byte again and again', (response: ServerResponse) => void response.destroy()],
  ] as const) {
    test(`is downloaded from a fresh link when the first one ${title}`, async (t) => {
      const baseUrl = await serve(t, (request, response) => {
        if (request.url === '/first') answer(response);
        else response.end(video);
      });
      const client = clientFor(baseUrl);
      const links = ['/first', '/second'];
      const { path } = await downloadResult(
        client,
        async () => links.shift() ?? assert.fail('no third link is needed'),
        { workFolder: await temporaryFolder(t), signal },
        () => {},
      );
      assert.deepEqual(await readFile(path), video);
    });
  }
});
