import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { checkConformance } from '../../../src/providers/own/check-conformance.ts';
import { createOwnProvider } from '../../../src/providers/own/own-provider.ts';
import { skipWithoutPython, startExample } from '../../fakes/example-upstream.ts';
import { fakeVideoPath } from '../../fakes/restartable-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { waitFor } from '../../support/wait-for.ts';
import { imageFiles } from '../contract/all-fields.ts';
import { type JobChanges, jobOf, jobRequest, signal, statusOf } from '../contract/job-request.ts';
import { clientFor, providerDeps } from '../loopback-client.ts';
import { ffmpegPath } from '../preview/render-support.ts';

const key = 'test-key';
const ffmpeg = ffmpegPath();

async function serve(t: TestContext, command: string, changes: JobChanges = {}) {
  const server = await startExample(command, key);
  t.after(() => server.close());
  const baseUrl = `http://${server.address}`;
  const provider = createOwnProvider(providerDeps({ kind: 'own', baseUrl }, clientFor(baseUrl, key)));
  const request = jobRequest(changes);
  const job = jobOf(request, request.jobKey);
  const ended = () =>
    waitFor('the end of the job', async () => {
      const seen = await statusOf(provider, job);
      return seen.state === 'running' ? undefined : seen;
    });
  return { server, baseUrl, provider, request, job, ended };
}

describe('the example server of the protocol', { skip: skipWithoutPython }, () => {
  test('has at most 110 lines', async () => {
    const text = await readFile(new URL('../../../../examples/provider.py', import.meta.url), 'utf8');
    assert.ok(text.split('\n').length - 1 <= 110);
  });

  test('makes a video with a command, which can be read from any byte on', async (t) => {
    // As a reader would write it: the size and the length are those of the request.
    const read = `python3 -c 'import json; i = json.load(open("request.json"))["input"]; print("%sx%s:d=%s" % (i["width"], i["height"], i["duration"]))'`;
    const command = `${ffmpeg} -nostdin -f lavfi -i "testsrc2=r=24:s=$(${read})" -pix_fmt yuv420p video.mp4`;
    const { baseUrl, provider, request, job, ended } = await serve(t, command);
    assert.deepEqual(await provider.submit(request, signal), { kind: 'accepted', id: job.id });
    assert.equal((await ended()).state, 'succeeded');
    const workFolder = await temporaryFolder(t);
    const { path } = await provider.result(job, undefined, { workFolder, signal });
    const decoded = spawnSync(ffmpeg, ['-v', 'error', '-i', path, '-f', 'null', '-'], { encoding: 'utf8' });
    assert.deepEqual([decoded.status, decoded.stderr], [0, '']);
    const headers = { authorization: `Bearer ${key}`, range: 'bytes=1000-' };
    const rest = await fetch(`${baseUrl}/jobs/${job.id}/video`, { headers });
    const video = await readFile(path);
    assert.equal(rest.status, 206);
    assert.equal(rest.headers.get('content-range'), `bytes 1000-${video.length - 1}/${video.length}`);
    assert.deepEqual(Buffer.from(await rest.arrayBuffer()), video.subarray(1000));
  });

  test('keeps every rule of the protocol, also after a restart', async (t) => {
    // One job takes the permission to end, the other one runs until it is stopped.
    const { server, baseUrl } = await serve(
      t,
      `until mv ../go . 2>&-; do sleep 0.05; done; cp ${fakeVideoPath} video.mp4`,
    );
    const workFolder = await temporaryFolder(t);
    let jobId = '';
    const check = async (earlierJob?: string) => {
      const findings = await checkConformance({
        client: clientFor(baseUrl, key),
        strangers: { keyless: clientFor(baseUrl), invalid: clientFor(baseUrl, 'wrong') },
        bodies: { first: '{"version": 2}', other: '{"version": 2, "model": "other"}' },
        inspect: async () => 'a video',
        earlierJob,
        workFolder,
        pollMs: 50,
        signal,
        onFinding: () => {},
        say: (line) => {
          const [, running] = /^job (\S+): running/.exec(line) ?? [];
          if (running === undefined || jobId !== '') return;
          jobId = running;
          writeFileSync(join(server.folder, 'go'), '');
        },
      });
      return findings.filter(({ outcome }) => outcome !== 'pass').map(({ rule, came }) => `${rule}: ${came}`);
    };
    assert.deepEqual(await check(), [`restart: restart the server, then check it again with --job ${jobId}`]);
    await server.restart();
    assert.deepEqual(await check(jobId), ['errors: no answer of this kind']);
  });

  test('runs the command once, however often and wherever it is asked', async (t) => {
    const { server, provider, request, job, ended } = await serve(t, 'echo run >> ../runs; cp request.json video.mp4');
    await provider.submit(request, signal);
    await Promise.all([provider.submit(request, signal), provider.submit(request, signal)]);
    await ended();
    await provider.submit(request, signal);
    await server.restart();
    assert.deepEqual(await provider.submit(request, signal), { kind: 'accepted', id: job.id });
    assert.equal((await ended()).state, 'succeeded');
    assert.equal(await readFile(join(server.folder, 'runs'), 'utf8'), 'run\n');
  });

  test('a job that a restart interrupted has failed, and its folder is no other job', async (t) => {
    const { server, provider, request, ended } = await serve(t, 'while [ -e request.json ]; do sleep 0.05; done');
    await provider.submit(request, signal);
    await server.restart();
    const fault = { kind: 'upstream', code: 'internal', detail: 'the server was restarted' };
    assert.deepEqual(await ended(), { state: 'failed', error: fault });
    await provider.submit(request, signal);
    assert.deepEqual(await ended(), { state: 'failed', error: fault });
  });

  test('a cancelled job ends with its command and all that this has started', async (t) => {
    const { server, provider, request, job, ended } = await serve(t, 'echo $$ > ../pid; sleep 600; echo on >> ../runs');
    await provider.submit(request, signal);
    const pid = await pidIn(server.folder);
    assert.equal(await provider.cancel(job, signal), 'cancelled');
    await waitFor('the end of the command', () => (lives(pid) ? undefined : true));
    assert.deepEqual(await ended(), { state: 'failed', error: { kind: 'upstream', code: 'canceled', detail: '' } });
    assert.equal(await provider.cancel(job, signal), 'cancelled');
  });

  test('a command whose server was killed ends with it, so that the next job runs alone', async (t) => {
    const { server, provider, request } = await serve(t, 'echo $$ > ../pid; sleep 600; echo on >> ../runs');
    await provider.submit(request, signal);
    const pid = await pidIn(server.folder);
    await server.restart();
    await waitFor('the end of the command', () => (lives(pid) ? undefined : true));
  });

  for (const command of ['exit 3', 'true', 'no-such-program']) {
    test(`the command \`${command}\` makes the job fail`, async (t) => {
      const { provider, request, ended } = await serve(t, command);
      await provider.submit(request, signal);
      assert.equal((await ended()).state, 'failed');
    });
  }

  test('a failure has the end of the error output of its command, which operators read with `task show`', async (t) => {
    const command = 'printf "%3000s" >&2; echo "CUDA out of memory" >&2; exit 3';
    const { provider, request, ended } = await serve(t, command);
    await provider.submit(request, signal);
    const detail = 'the command ended with 3: CUDA out of memory';
    assert.deepEqual(await ended(), { state: 'failed', error: { kind: 'upstream', code: 'internal', detail } });
  });

  test('puts images beside the request, and leaves links to its command', async (t) => {
    const command = 'cat firstFrame1.jpg images2.jpg > video.mp4; ls > ../listed';
    const image = await imageFiles(t);
    const images = ['one', 'two'].map(image);
    const links = { videos: ['https://media.example/1.mp4'] };
    const changes = { images, frames: { firstFrame: image('first') }, links };
    const { server, provider, request, job, ended } = await serve(t, command, changes);
    await provider.submit(request, signal);
    assert.equal((await ended()).state, 'succeeded');
    assert.equal(await readFile(join(server.folder, job.id, 'video.mp4'), 'utf8'), 'firsttwo');
    const listed = await readFile(join(server.folder, 'listed'), 'utf8');
    assert.deepEqual(listed.trim().split('\n'), [
      'firstFrame1.jpg',
      'images1.jpg',
      'images2.jpg',
      'request.json',
      'stderr.txt',
      'video.mp4',
    ]);
  });

  test('a wrong key and paths beside the protocol are refused', async (t) => {
    const { baseUrl } = await serve(t, 'true');
    const put = async (path: string, authorization: string) =>
      (await fetch(baseUrl + path, { method: 'PUT', body: '{}', headers: { authorization } })).status;
    assert.equal(await put(`/jobs/${jobRequest().jobKey}`, 'Bearer wrong'), 401);
    assert.equal(await put('/jobs/..%2f..%2fescape', `Bearer ${key}`), 404);
    assert.equal(await put('/jobs/', `Bearer ${key}`), 404);
  });
});

/** Waits for the command to write its process id. */
async function pidIn(folder: string): Promise<number> {
  return await waitFor('the command', async () => {
    const text = await readFile(join(folder, 'pid'), 'utf8').catch(() => '');
    return text.endsWith('\n') ? Number(text) : undefined;
  });
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
