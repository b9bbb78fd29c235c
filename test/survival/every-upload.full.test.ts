import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Kind, kinds } from '../fakes/provider-kinds.ts';
import { createStories, isUpload } from './request-stories.ts';

// Upstreams that get the images of a task before its create. The worker dies at each of its requests, also between the uploads and the
// create, where nothing shows the next worker whether there is a job.

const workflow = {
  '1': { class_type: 'CLIPTextEncode', inputs: { text: '{{prompt}}' } },
  '2': { class_type: 'LoadImage', inputs: { image: '{{firstFrame}}' } },
  '3': { class_type: 'LoadImage', inputs: { image: '{{lastFrame}}' } },
  '9': { class_type: 'SaveVideo', inputs: { filename_prefix: '{{prefix}}' } },
};

/** Jobs of the first have no names, those of the second have. */
const uploading: Readonly<Record<string, Partial<Kind>>> = {
  pixverse: {},
  comfyui: { parameters: { workflow: './frames.json', fps: 16 } },
};

describe('an upload of a frame may be the last request of a worker', { concurrency: true }, () => {
  const { stageOf, throughEveryRequest } = createStories({ 'frames.json': workflow });

  for (const [name, changes] of Object.entries(uploading)) {
    describe(name, { concurrency: false }, () => {
      const kind = { ...(kinds.get(name) ?? assert.fail()), ...changes };
      const stage = stageOf(name, kind);

      test('one video is made and charged once, or none and the task is refunded once', async () => {
        let deathsAtUploads = 0;
        await throughEveryRequest(
          stage(),
          { hasFrames: true, endsAtCreate: true, fewest: 2 },
          async ({ task, made, requests, isLost, hasDied, openJobs }) => {
            const last = requests.at(-1) ?? '';
            if (hasDied && isUpload(last)) deathsAtUploads += 1;
            assert.equal(openJobs, 0, 'a job holds its slot');
            if (isLost && task.state === 'fail') return assert.equal(task.failure?.failCode, 'provider_unavailable');
            assert.equal(task.state, 'success', JSON.stringify(task.failure));
            assert.equal(made.length, 1, JSON.stringify(made));
          },
        );
        // Two frames, before and after each upload.
        assert.equal(deathsAtUploads, 4);
      });
    });
  }
});
