import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { createProviderClient } from '../../../src/platform/outbound/provider-client.ts';
import { requestSettingsOf } from '../../../src/providers/http/headers-and-query.ts';
import { serve } from '../../support/servers/serve.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { jobOf, jobRequest, lostCall, signal, statusOf } from '../contract/job-request.ts';
import { httpProvider, shippedFile } from './shipped-file.ts';

// Requests by a file can have more than a path and the body of a create.

const key = 'sk-/very+secret';
const encoded = 'sk-%2Fvery%2Bsecret';

type Received = { readonly line: string; readonly body: string; readonly headers: IncomingHttpHeaders };

async function server(t: TestContext, answer: (line: string) => string) {
  const received: Received[] = [];
  const baseUrl = await serve(t, (request, response) => {
    void text(request).then((body) => {
      const line = `${request.method} ${request.url}`;
      received.push({ line, body, headers: request.headers });
      response.end(answer(line));
    });
  });
  return { received, baseUrl };
}

function providerAt(baseUrl: string, changes: object) {
  const file = shippedFile('kie', changes);
  const client = createProviderClient({
    baseUrl,
    ...requestSettingsOf(file, () => ({ key: () => key })),
    lookup: () => Promise.reject(new Error('no names here')),
  });
  return httpProvider(file, client);
}

const states = { done: 'succeeded', going: 'running' };

describe('a request by a file', () => {
  test('about a job can be a POST with a body, also those that find it, stop it, or fetch its result', async (t) => {
    const { received, baseUrl } = await server(t, (line) =>
      line.includes('/find') ? '{"ids":["7"]}' : '{"state":"done","url":"https://vendor.example/1.mp4"}',
    );
    const post = (path: string) => ({ method: 'POST', path: `'${path}'`, json: "{ 'task': job.id, 'key': jobKey }" });
    const provider = providerAt(baseUrl, {
      find: { ...post('/find'), id: 'body.ids' },
      status: { ...post('/status'), state: 'body.state', states },
      result: { ...post('/result'), url: 'body.url' },
      cancel: { ...post('/cancel'), cancelled: "body.state = 'done'" },
    });
    const request = jobRequest();
    const job = jobOf(request, '7');
    assert.deepEqual(await provider.recover(lostCall(request), signal), { kind: 'found', id: '7' });
    assert.equal((await statusOf(provider, job)).state, 'succeeded');
    assert.equal(await provider.cancel(job, signal), 'cancelled');
    const [find, ...others] = received.map(({ line, body }) => [line, JSON.parse(body) as unknown]);
    assert.deepEqual(find, ['POST /find', { key: job.jobKey }]);
    const about = { task: '7', key: job.jobKey };
    assert.deepEqual(
      others,
      ['POST /status', 'POST /result', 'POST /cancel'].map((line) => [line, about]),
    );
  });

  test('can have a header that is another UUID each time, beside those that stay', async (t) => {
    const { received, baseUrl } = await server(t, () => '{"code":200,"data":{"taskId":"1"}}');
    const provider = providerAt(baseUrl, { headers: { 'Ai-trace-id': '$uuid', 'X-Version': '2' } });
    const job = jobOf(jobRequest(), '1');
    await provider.submit(jobRequest(), signal);
    await provider.status([job], signal);
    const ids = received.map(({ headers }) => String(headers['ai-trace-id']));
    assert.equal(new Set(ids).size, 2);
    for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
    assert.deepEqual(
      received.map(({ headers }) => headers['x-version']),
      ['2', '2'],
    );
  });

  test('can have its key in the query, which no answer repeats to operators', async (t) => {
    const { received, baseUrl } = await server(
      t,
      () => `{"code":422,"msg":"the key ${key} in ?key=${encoded} is wrong"}`,
    );
    const provider = providerAt(baseUrl, { auth: { kind: 'query', name: 'key' } });
    const outcome = await provider.submit(jobRequest(), signal);
    assert.equal(received[0]?.line, `POST /api/v1/jobs/createTask?key=${encoded}`);
    assert.ok(outcome.kind === 'refused');
    assert.match(outcome.error.detail, /\[redacted\] in \?key=\[redacted\] is wrong/);
    await provider.status([jobOf(jobRequest(), '1')], signal);
    assert.equal(received[1]?.line, `GET /api/v1/jobs/recordInfo?taskId=1&key=${encoded}`);
  });
});

describe('a download', () => {
  async function downloaded(t: TestContext, keyOrigins: (origin: string) => readonly string[], path = '/video') {
    const other = await server(t, () => 'a file');
    const home = await server(t, () => 'a file');
    const client = createProviderClient({
      baseUrl: home.baseUrl,
      credentials: () => ({ 'x-key': key }),
      secretQuery: () => ({ key }),
      keyOrigins: keyOrigins(other.baseUrl),
      allow: { hosts: [{ hostname: '127.0.0.1', port: Number(new URL(other.baseUrl).port) }], networks: [] },
      lookup: () => Promise.reject(new Error('no names here')),
    });
    await client.download(`${other.baseUrl}${path}`, join(await temporaryFolder(t), 'file'), { signal });
    return other.received[0];
  }

  test('from another origin gets no key', async (t) => {
    const received = await downloaded(t, () => []);
    assert.equal(received?.line, 'GET /video');
    assert.equal(received.headers['x-key'], undefined);
  });

  test('from an origin that the file names gets the key', async (t) => {
    const received = await downloaded(t, (origin) => [origin], '/video?alt=media');
    assert.equal(received?.headers['x-key'], key);
    assert.equal(received.line, `GET /video?alt=media&key=${encoded}`);
  });
});
