import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import type { ModerationCreateParams, ModerationCreateResponse } from 'openai/resources/moderations';
import { hookShapes } from '../../src/providers/moderation/hook-shapes.ts';
import {
  moderated,
  type ModerationHook,
  type ModerationRequest,
  startModerationHook,
} from '../fakes/moderation-hook.ts';

// OpenAI's own client judges the fake hook of our tests, and its types judge what we send.

let hook: ModerationHook;
let openai: OpenAI;
before(async () => {
  hook = await startModerationHook();
  openai = new OpenAI({ apiKey: 'sk-test', baseURL: new URL('.', hook.openai).href, maxRetries: 0 });
});
after(() => hook.close());

const model = { ours: 'videogen-2.0', hook: 'omni-moderation-latest' };
const { requests, refusalIn } = hookShapes.openai;

test('the client sends our requests to the fake as we send them, and reads the verdict that we read', async () => {
  const images = ['https://client.test/harbor.jpg', 'https://client.test/nude.jpg'];
  for (const [content, categories] of [
    [{ prompt: 'A quiet harbor', imageUrls: [] }, [undefined]],
    [{ prompt: 'A harbor of blood', imageUrls: [] }, ['violence']],
    [{ prompt: 'A harbor of blood', imageUrls: images }, ['violence', 'sexual']],
  ] as const) {
    const bodies = requests(content, model);
    const found: (string | undefined)[] = [];
    for (const body of bodies) {
      hook.received.length = 0;
      // Requests are plain JSON to the compiler; the next test compares them with the client's types.
      const request = body as ModerationRequest;
      const answer = await openai.moderations.create(request);
      assert.deepEqual(hook.received[0]?.body, body, 'the client changes nothing of it');
      const answered: ModerationCreateResponse = moderated(request);
      assert.deepEqual(answer, answered);
      const [result] = answer.results;
      assert.ok(result);
      const flagged = Object.entries(result.categories).filter(([, isFlagged]) => isFlagged === true);
      const refusal = refusalIn(answer);
      assert.deepEqual([result.flagged, flagged[0]?.[0]], [refusal !== undefined, refusal]);
      found.push(refusal);
    }
    assert.deepEqual(found, categories);
  }
});

test('what we send has the types of the client', () => {
  const [text] = requests({ prompt: 'A harbor', imageUrls: [] }, model);
  const typedText: ModerationCreateParams = { model: model.hook, input: 'A harbor' };
  assert.deepEqual(text, typedText);
  const [message] = requests({ prompt: 'A harbor', imageUrls: ['https://client.test/a.jpg'] }, model);
  const typedMessage: ModerationCreateParams = {
    model: model.hook,
    input: [
      { type: 'text', text: 'A harbor' },
      { type: 'image_url', image_url: { url: 'https://client.test/a.jpg' } },
    ],
  };
  assert.deepEqual(message, typedMessage);
});
