import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { OutboundError } from '../../src/platform/outbound/outbound-error.ts';
import { type UpstreamClient, VideoLostError } from '../../src/providers/provider-contract.ts';
import { downloadResult } from '../../src/providers/download-result.ts';
import { fakeVideoPath } from '../fakes/restartable-server.ts';
import { serve } from '../support/servers/serve.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { signal } from './contract/job-request.ts';
import { clientFor } from './loopback-client.ts';
import { mockTimers } from '../support/mock-timers.ts';

const video = await readFile(fakeVideoPath);

/** Google Cloud Storage answers 400 to a link that has expired. */
const expired = '<Error><Code>ExpiredToken</Code><Message>Invalid argument.</Message></Error>';

describe('the video of a job that succeeded', () => {
  for (const kind of ['too_large', 'encoding', 'blocked'] as const)
    test(`is not requested again when it is ${kind}, because that would not change`, async (t) => {
      const client = {
        call: () => assert.fail('not used'),
        download: () => Promise.reject(new OutboundError(kind, 'words')),
      };
      const to = { workFolder: await temporaryFolder(t), signal };
      const downloaded = downloadResult(
        client,
        async () => '/video',
        to,
        () => assert.fail('it failed for good'),
      );
      await assert.rejects(downloaded, { kind });
    });

  test('that the upstream no longer has is lost at once', async (t) => {
    const client = { call: () => assert.fail('not used'), download: () => assert.fail('there is no address') };
    const to = { workFolder: await temporaryFolder(t), signal };
    const lost = new VideoLostError('the job is gone');
    const downloaded = downloadResult(
      client,
      () => Promise.reject(lost),
      to,
      () => assert.fail('it failed for good'),
    );
    await assert.rejects(downloaded, lost);
  });

  test('is not warned of when its attempt is stopped, and each interruption is', async (t) => {
    const stop = new AbortController();
    const warned: string[] = [];
    let downloads = 0;
    const client: UpstreamClient = {
      call: () => assert.fail('not used'),
      download: async (_url, _path, { signal: stopped, onBreak }) => {
        downloads += 1;
        onBreak?.(new OutboundError('closed', 'socket hang up'));
        stop.abort(new Error('the task is cancelled'));
        stopped.throwIfAborted();
      },
    };
    const to = { workFolder: await temporaryFolder(t), signal: stop.signal };
    const warn = (event: string, detail: string) => void warned.push(`${event}: ${detail}`);
    await assert.rejects(
      downloadResult(client, async () => '/video', to, warn),
      { message: 'the task is cancelled' },
    );
    assert.equal(downloads, 1);
    assert.deepEqual(warned, ['result download interrupted: The address could not be reached. (socket hang up)']);
  });

  test('is the fifth of five files of another kind, after pauses that double up to a minute', async (t) => {
    mockTimers(t, { apis: ['setTimeout'] });
    const warned: string[] = [];
    let downloads = 0;
    const client = {
      call: () => assert.fail('not used'),
      download: async (_url: string, toFile: string) => {
        downloads += 1;
        if (downloads % 2 === 0) throw new Error('HTTP 502');
        await writeFile(toFile, `text ${downloads}`);
      },
    };
    const warn = (event: string, detail: string) => {
      warned.push(`${event}: ${detail}`);
      const pauseMs = Math.min(60_000, 1_000 * 2 ** (warned.length - 1));
      const next = warned.length + 1;
      setImmediate(() => {
        t.mock.timers.tick(pauseMs - 1);
        setImmediate(() => {
          assert.ok(downloads < next, 'the pause is over too soon');
          t.mock.timers.tick(1);
        });
      });
    };
    const to = { workFolder: await temporaryFolder(t), signal };
    const { path } = await downloadResult(client, async () => '/video', to, warn);
    assert.equal(await readFile(path, 'utf8'), 'text 9');
    const [other, failed] = ['the download is no video', 'HTTP 502'].map((why) => `result download failed: ${why}`);
    assert.deepEqual(warned, [other, failed, other, failed, other, failed, other, failed]);
  });

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
