import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { startScriptedUpstream } from '../../../fakes/provider-file-upstream.ts';
import { shippedFile } from '../../../providers/http/shipped-file.ts';
import { videogen } from '../../../support/processes/run-videogen.ts';
import { waitFor } from '../../../support/wait-for.ts';

const shipped = ['kie', 'fal-seedance', 'replicate-seedance', 'openrouter', 'minimax', 'kling', 'runway'];

for (const name of shipped) {
  test(`provider try shows every value of ${name}, and needs no settings and no network`, async () => {
    const { code, stdout } = await videogen(process.env, 'provider', 'try', `builtin:${name}`);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^ok {3}create: HTTP 20[0-2] means accepted\n {7}> POST /);
    assert.match(stdout, new RegExp(`^ {7}create\\.id: "${shippedFile(name).example.job.id}"$`, 'm'));
    assert.doesNotMatch(stdout, /^FAIL|no value/m);
  });
}

test('provider try reports differences from the example, and all errors of a file', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-try-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'upstream.yaml');
  const text = await readFile(new URL(import.meta.resolve('#assets/providers/kie.yaml')), 'utf8');
  await writeFile(path, text.replace('id: body.data.taskId', 'id: body.data.taskID'));
  const differing = await videogen(process.env, '--json', 'provider', 'try', path);
  assert.equal(differing.code, 1);
  const { ok, exchanges } = JSON.parse(differing.stdout) as { ok: boolean; exchanges: { differences: string[] }[] }; // its answer
  assert.equal(ok, false);
  assert.deepEqual(exchanges[0]?.differences, ['means unknown instead of accepted']);

  await writeFile(path, text.replace('id: body.data.taskId', 'id: $evel(1)').replace('images: link', 'images: lnk'));
  const invalid = await videogen(process.env, 'provider', 'try', path);
  assert.equal(invalid.code, 1);
  assert.match(invalid.stderr, /upstream\.yaml: images: must be one of link, data-url, upload; did you mean link\?\n/);
  assert.match(invalid.stderr, /upstream\.yaml: create\.id: at character 5: \$evel: unknown function/);
});

test('provider try --send makes one job and fetches its video', async (t) => {
  const file = shippedFile('replicate-seedance');
  const upstream = await startScriptedUpstream(file);
  t.after(() => upstream.close());
  const prompt = 'one job alone';
  const args = ['--send', '--prompt', prompt, '--key-env', 'UPSTREAM_KEY', '--base-url', `http://${upstream.address}`];
  const env = { ...process.env, UPSTREAM_KEY: 'the-key' };
  const running = videogen(env, '--json', 'provider', 'try', 'builtin:replicate-seedance', ...args);
  const job = await waitFor('the job', async () => (await upstream.books.jobsFor(prompt))[0]);
  await upstream.books.end(job.id, 'succeeded');
  const { code, stdout, stderr } = await running;
  assert.equal(code, 0, stderr);
  const { jobId, video } = JSON.parse(stdout) as { jobId: string; video: string }; // its answer
  t.after(() => rm(video));
  assert.equal(jobId, job.id);
  assert.deepEqual(await readFile(video), await readFile(upstream.videoPath));
  assert.equal((await upstream.books.jobsFor(prompt)).length, 1);
  assert.deepEqual([...new Set(upstream.headers.map(({ authorization }) => authorization))], ['Bearer the-key']);
  assert.doesNotMatch(stdout + stderr, /the-key/);
});
