import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { compareWorkflow, readNodeClasses } from '../../../src/providers/comfy/read-and-compare-node-classes.ts';
import { signal } from '../contract/job-request.ts';

/** The classes by this answer of a server. */
async function classesBy(status: number, text: string) {
  const asked: unknown[] = [];
  const call: Parameters<typeof readNodeClasses>[0]['call'] = async (method, path, { timeoutMs, maxBytes }) => {
    asked.push([method, path, timeoutMs, maxBytes]);
    return { status, headers: {}, body: Buffer.from(text) };
  };
  const classes = await readNodeClasses({ call }, signal).finally(() =>
    assert.deepEqual(asked, [['GET', '/object_info', 30_000, 64 * 1024 * 1024]]),
  );
  return Object.fromEntries(classes);
}

test('the classes of a server are those that it lists, with the inputs that each requires', async () => {
  const required = { image: ['IMAGE'], fps: ['FLOAT'] };
  const info = { CreateVideo: { input: { required, optional: { audio: ['AUDIO'] } } }, Note: { input: {} }, Odd: 7 };
  assert.deepEqual(await classesBy(200, JSON.stringify(info)), { CreateVideo: ['image', 'fps'], Note: [], Odd: [] });
  await assert.rejects(classesBy(500, '{}'), { message: 'HTTP 500: {}' });
  await assert.rejects(classesBy(200, 'x'.repeat(400)), { message: `HTTP 200: ${'x'.repeat(290)}` });
});

test('every node without its class is a problem, and every missing input a warning', () => {
  const classes = new Map([
    ['LoadImage', ['image']],
    ['CreateVideo', ['images', 'fps']],
  ]);
  const node = (name: string, inputs?: object) => ({ class_type: name, ...(inputs && { inputs }) });
  const workflow = {
    '1': node('LoadImge', {}),
    '2': node('FilmGrain'),
    '3': node('CreateVideo', { 'images.1': 1, image: 1 }),
    '4': node('CreateVideo'),
    '5': node('LoadImage', { image: 1, more: 1 }),
  };
  assert.deepEqual(compareWorkflow(JSON.parse(JSON.stringify(workflow)) as JsonObject, classes), {
    problems: [
      'node 1: the server has no class LoadImge, did you mean LoadImage?',
      'node 2: the server has no class FilmGrain',
    ],
    warnings: [
      'node 3: CreateVideo needs the input fps',
      'node 4: CreateVideo needs the input images',
      'node 4: CreateVideo needs the input fps',
    ],
  });
});
