import assert from 'node:assert/strict';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import sharp from 'sharp';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { startFakeComfyui } from '../../fakes/comfy/comfyui.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { allFields, allMedia, contents } from '../contract/all-fields.ts';
import { begun, jobRequest, type JobChanges, lostCall, signal } from '../contract/job-request.ts';
import { comfyuiAt, kinds, type Server, verdictOf, withAll, withImage, workflow } from './comfy-stage.ts';

for (const kind of kinds) {
  describe(`the kind ${kind.name}`, { skip: kind.skip }, () => {
    let server: Server;
    before(async () => {
      server = await kind.start();
    });
    after(() => server.close());

    async function begin(changes: JobChanges = {}, graph: object = workflow) {
      const provider = server.provider(graph);
      const { request, job } = await begun(provider, changes);
      return { comfyui: server.comfyui, provider, request, job, status: () => verdictOf(provider, job) };
    }

    test('fills the workflow in from the task, with typed values', async () => {
      const input = withDefaults({ prompt: 'a lighthouse', duration: 5, ratio: '4:3' });
      const { comfyui, job, request } = await begin({ input });
      const graph = comfyui.graphs.at(-1) ?? {};
      assert.deepEqual(graph['1']?.inputs, { text: 'a lighthouse', clip: ['4', 0] });
      assert.deepEqual(graph['5']?.inputs, { width: 1120, height: 832, length: 81 });
      assert.equal(typeof graph['3']?.inputs['seed'], 'number');
      assert.equal(graph['9']?.inputs['filename_prefix'], `videogen/${request.jobKey}`);
      await comfyui.books.end(job.id, 'failed');
    });

    test('fills in an empty negative prompt for a task without one, because a node needs its text', async () => {
      const graph = { ...workflow, '10': withAll['10'] };
      const { comfyui, job } = await begin({}, graph);
      assert.deepEqual(comfyui.graphs.at(-1)?.['10']?.inputs, { text: '' });
      await comfyui.books.end(job.id, 'failed');
    });

    test('stores the image, which the workflow then loads', async (t) => {
      const { images, bytes } = await oneImage(t);
      const { comfyui, job } = await begin({ images }, withImage);
      const name = String(comfyui.graphs.at(-1)?.['7']?.inputs['image']);
      assert.equal(comfyui.images.get(name), bytes);
      await comfyui.books.end(job.id, 'failed');
    });

    test('passes on every field of a request', async (t) => {
      const media = await allMedia(t);
      const { comfyui, job } = await begin({ input: allFields, media: async () => media }, withAll);
      const graph = comfyui.graphs.at(-1) ?? {};
      const loaded = (node: string, field: string) => comfyui.images.get(String(graph[node]?.inputs[field]));
      assert.deepEqual(
        [
          loaded('7', 'image'),
          loaded('11', 'image'),
          loaded('12', 'image'),
          loaded('13', 'file'),
          loaded('14', 'audio'),
        ],
        Object.values(contents).map((content) => content.length),
      );
      assert.match(String(graph['13']?.inputs['file']), /\.mp4$/);
      assert.match(String(graph['14']?.inputs['audio']), /\.mp3$/);
      assert.equal(graph['3']?.inputs['seed'], 42);
      assert.equal(graph['10']?.inputs['text'], 'fog');
      const settings = { resolution: '1080p', ratio: '4:3', seconds: 5, sound: true, steps: 30 };
      assert.deepEqual(graph['15']?.inputs, settings);
      await comfyui.books.end(job.id, 'failed');
    });

    test('fetches and uploads no media that the workflow does not use', async () => {
      const media = () => Promise.reject(new Error('media were fetched'));
      const { comfyui, job } = await begin({ input: allFields, media });
      await comfyui.books.end(job.id, 'failed');
    });

    test('follows a job from the queue to its video', async (t) => {
      server.comfyui.hold(true);
      const { comfyui, provider, job, status } = await begin();
      server.comfyui.hold(false);
      assert.equal((await status()).state, 'queued');
      await comfyui.books.end(job.id, 'succeeded');
      const ended = await status();
      assert.ok(ended.state === 'succeeded');
      for (const known of [ended.result, undefined]) {
        const { path } = await provider.result(job, known, { workFolder: await temporaryFolder(t), signal });
        assert.deepEqual(await readFile(path), await readFile(comfyui.videoPath));
      }
    });

    test('shows operators which error ended a job', async () => {
      const { comfyui, job, status } = await begin();
      await comfyui.books.end(job.id, 'failed');
      const ended = await status();
      assert.ok(ended.state === 'failed');
      assert.match(ended.error.detail, /out of memory/);
      assert.equal(ended.error.kind, 'upstream');
    });

    test('chooses the video among what a workflow wrote', async () => {
      const { comfyui, job, status } = await begin();
      const image = { filename: 'x.png', subfolder: '', type: 'output' };
      const video = { filename: 'y.webm', subfolder: 'a', type: 'output' };
      const url = `/view?${new URLSearchParams(video).toString()}`;
      comfyui.write({ '8': { images: [image] }, '9': { gifs: [video], images: [image] } });
      await comfyui.books.end(job.id, 'succeeded');
      const ended = await status();
      comfyui.write({ '8': { images: [image] } });
      const without = await status();
      comfyui.write({
        '9': { images: [{ filename: `${job.jobKey}_00001_.mp4`, subfolder: 'videogen', type: 'output' }] },
      });
      assert.ok(ended.state === 'succeeded', kind.name === 'comfyui' ? JSON.stringify(ended) : '');
      if (kind.name === 'comfyui') assert.deepEqual(ended.result, { url });
      assert.equal(without.state, 'failed');
    });

    test('stops a job that runs, and one that waits, and no other', async () => {
      const other = await begin();
      for (const isHeld of [false, true]) {
        server.comfyui.hold(isHeld);
        const { comfyui, provider, job } = await begin();
        server.comfyui.hold(false);
        const outcome = await provider.cancel(job, signal);
        assert.ok(outcome === 'cancelled' || (isHeld && outcome === 'ended'), outcome);
        assert.equal(comfyui.books.find(job.id)?.state, 'canceled');
      }
      assert.equal((await other.status()).state, 'running');
      assert.equal(await other.provider.cancel(other.job, signal), 'cancelled');
    });

    test('finds a job whose create was not answered, and makes no second one', async () => {
      const { comfyui, provider, request, job } = await begin();
      assert.deepEqual(await provider.recover(lostCall(request), signal), { kind: 'found', id: job.id });
      const again = await provider.submit(request, signal);
      assert.ok(again.kind === 'accepted' && again.id === job.id);
      assert.equal((await comfyui.books.jobsFor(request.input.prompt)).length, 1);
      assert.deepEqual(await provider.recover(lostCall(jobRequest()), signal), { kind: 'not_created' });
    });

    test('still follows a job after a restart', async () => {
      const { comfyui, job, status, request } = await begin();
      await comfyui.books.end(job.id, 'succeeded');
      await server.restart();
      const seen = await status();
      // ComfyUI has forgotten the job, but its file is there; the proxy remembers it.
      assert.equal(seen.state, 'succeeded');
      assert.equal((await comfyui.books.jobsFor(request.input.prompt)).length, 1);
    });

    test('requires the operator when the workflow does not fit the server', async () => {
      const { comfyui } = server;
      const error = { type: 'prompt_outputs_failed_validation', message: 'Prompt outputs failed validation' };
      comfyui.refuse({ error, node_errors: { '3': { errors: [{ type: 'value_not_in_list' }] } } });
      const outcome = await server.provider(workflow).submit(jobRequest(), signal);
      comfyui.refuse(undefined);
      assert.ok(outcome.kind === 'not_accepted');
      assert.equal(outcome.reason, 'operator');
    });
  });
}

describe('the kind comfyui', () => {
  test('declines a clip that is too large to upload, so that another provider may take the task', async (t) => {
    const { comfyui, provider } = await own(t, withAll);
    const media = await allMedia(t);
    await truncate(media.videos[0]?.path ?? '', 60_000_001);
    const outcome = await provider.submit(jobRequest({ media: async () => media }), signal);
    assert.ok(outcome.kind === 'refused' && outcome.error.kind === 'input');
    assert.deepEqual(comfyui.graphs, []);
  });

  async function own(t: TestContext, graph: object = workflow) {
    const comfyui = await startFakeComfyui();
    t.after(() => comfyui.close());
    return { comfyui, provider: comfyuiAt(`http://${comfyui.address}`, graph) };
  }

  test('refuses what only this task asks for, and leaves every other error to the operator', async (t) => {
    const { comfyui, provider } = await own(t);
    const [tooBig, tooSmall, other] = ['value_bigger_than_max', 'value_smaller_than_min', 'value_not_in_list'].map(
      (type) => ({ type }),
    );
    for (const [refusal, expected] of [
      [{ error: { type: 'x' }, node_errors: { '5': { errors: [tooBig] } } }, 'input'],
      [{ error: { type: 'x' }, node_errors: { '3': { errors: [tooSmall] }, '5': { errors: [tooBig] } } }, 'input'],
      [{ error: { type: 'x' }, node_errors: { '5': { errors: [tooBig, other] } } }, 'operator'],
      [{ error: { type: 'no_prompt' }, node_errors: {} }, 'operator'],
      [{ error: 'no prompt' }, 'operator'],
    ] as const) {
      comfyui.refuse(refusal);
      const outcome = await provider.submit(jobRequest(), signal);
      const why = outcome.kind === 'refused' ? outcome.error.kind : outcome.kind === 'not_accepted' && outcome.reason;
      assert.equal(why, expected, JSON.stringify(refusal));
    }
  });
});

async function oneImage(t: TestContext) {
  const path = join(await temporaryFolder(t), 'image.jpg');
  const jpeg = await sharp({ create: { width: 160, height: 90, channels: 3, background: 'red' } })
    .jpeg()
    .toBuffer();
  await writeFile(path, jpeg);
  return { images: [{ path, widthPx: 160, heightPx: 90 }], bytes: jpeg.length };
}
