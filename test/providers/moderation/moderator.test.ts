import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { builtInCatalogue } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { moderationSchema } from '../../../src/catalogue/file/moderation-schema.ts';
import {
  createModerator,
  type ModerationEndpoint,
  type Moderator,
  type ModerationVerdict,
} from '../../../src/providers/moderation/moderator.ts';
import type { ServiceEvent } from '../../../src/run/metrics/service-event.ts';
import { type ModerationHook as Fake, startModerationHook } from '../../fakes/moderation-hook.ts';
import { assertMeasured } from '../../support/assert-since.ts';
import { untilTurn } from '../../support/until-turn.ts';
import { waitFor } from '../../support/wait-for.ts';

let fake: Fake;
let opened: Moderator[] = [];
let warned: unknown[] = [];
let events: ServiceEvent[] = [];
before(async () => {
  fake = await startModerationHook();
});
beforeEach(() => {
  fake.answerWith();
  fake.received.length = 0;
  warned = [];
  events = [];
});
after(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await fake.close();
});

const defaults = { shape: 'openai', model: 'omni-moderation-latest', readKey: undefined, onError: 'refuse' } as const;
const prompt = 'A secret lighthouse';
const timeoutMs = 20_000;

function moderatorWith(hook: Partial<ModerationEndpoint> = {}, ofModel?: object): Moderator {
  const { models } = builtInCatalogue();
  const own = ofModel === undefined ? {} : { moderation: moderationSchema.parse(ofModel) };
  const moderator = createModerator({
    installation: { ...defaults, url: fake.openai, timeoutMs, concurrency: 10, ...hook },
    catalogue: () => ({ models: new Map([...models].map(([name, model]) => [name, { ...model, ...own }])) }),
    readSecret: (ref) => () => `secret of ${ref.env}`,
    linkTo: (url) => url.replace('upload:', 'https://media.test/signed/'),
    own: [],
    events: { emit: (event) => events.push(event) },
    log: { warn: (...line: unknown[]) => warned.push(line) },
  });
  opened.push(moderator);
  return moderator;
}

const check = (moderator: Moderator, content: { prompt?: string; imageUrls?: readonly string[] } = {}) =>
  moderator.check({ model: 'videogen-2.0-fast', prompt, imageUrls: [], ...content });

test("text goes in OpenAI's shape, with the key, and the flagged category with the highest score is named", async () => {
  const startedAt = performance.now();
  const moderator = moderatorWith({ readKey: () => 'sk-moderation' });
  assert.deepEqual(await check(moderator), { kind: 'allowed' });
  assert.deepEqual(await check(moderator, { prompt: 'blood' }), { kind: 'refused', category: 'violence' });
  const [first] = fake.received;
  assert.equal(first?.headers.authorization, 'Bearer sk-moderation');
  assert.deepEqual(first?.body, { model: 'omni-moderation-latest', input: prompt });
  fake.answerWith(
    json({
      results: [
        {
          flagged: true,
          categories: { hate: true, sexual: true, violence: false },
          category_scores: { hate: 0.6, sexual: 0.8, violence: 0.9 },
        },
      ],
    }),
  );
  assert.deepEqual(await check(moderator), { kind: 'refused', category: 'sexual' });
  assert.deepEqual(
    events.map((event) => event.kind === 'content_checked' && event.outcome),
    ['allowed', 'refused', 'refused'],
  );
  for (const event of events) if (event.kind === 'content_checked') assertMeasured(startedAt, event.durationMs);
});

test('each image goes in a request of its own, uploads as signed links, and one flagged image refuses the create', async () => {
  const moderator = moderatorWith();
  const imageUrls = ['https://client.test/a.jpg', 'upload:b.jpg', 'https://client.test/nude.jpg'];
  assert.deepEqual(await check(moderator, { imageUrls }), { kind: 'refused', category: 'sexual' });
  const inputs = fake.received.map(({ body }) => ('input' in body ? body.input : undefined));
  const image = (url: string) => ({ type: 'image_url', image_url: { url } });
  assert.deepEqual(
    new Set(inputs.map((input) => JSON.stringify(input))),
    new Set(
      [
        [{ type: 'text', text: prompt }, image('https://client.test/a.jpg')],
        [image('https://media.test/signed/b.jpg')],
        [image('https://client.test/nude.jpg')],
      ].map((input) => JSON.stringify(input)),
    ),
  );
});

test('a plain hook gets prompt and images together, and names its reason', async () => {
  const moderator = moderatorWith({ shape: 'plain', url: fake.plain });
  const imageUrls = ['upload:a.jpg', 'upload:b.jpg'];
  assert.deepEqual(await check(moderator, { imageUrls }), { kind: 'allowed' });
  assert.deepEqual(fake.received[0]?.body, {
    model: 'videogen-2.0-fast',
    prompt,
    imageUrls: ['https://media.test/signed/a.jpg', 'https://media.test/signed/b.jpg'],
  });
  assert.deepEqual(await check(moderator, { prompt: 'nude' }), { kind: 'refused', category: 'sexual' });
  for (const [reason, category = reason] of [['x'.repeat(64)], [' self-harm/intent ', 'self-harm/intent'], ['s3.1']]) {
    fake.answerWith(json({ allow: false, reason }));
    assert.deepEqual(await check(moderator), { kind: 'refused', category });
  }
  for (const reason of [undefined, null, '', '3d', `${prompt} is not allowed`, 'x'.repeat(65), 'two\nlines', 7]) {
    fake.answerWith(json({ allow: false, reason }));
    assert.deepEqual(await check(moderator), { kind: 'refused', category: 'unspecified' }, String(reason));
  }
});

test('a model has the hook of the installation, its own, or none', async () => {
  const own = { shape: 'plain', url: fake.plain, key: { env: 'HOOK_KEY' } };
  assert.deepEqual(await check(moderatorWith({}, own)), { kind: 'allowed' });
  assert.deepEqual(
    [fake.received[0]?.shape, fake.received[0]?.headers.authorization],
    ['plain', 'Bearer secret of HOOK_KEY'],
  );
  const none = moderatorWith({}, { shape: 'none' });
  assert.equal(none.checks('videogen-2.0-fast'), false);
  assert.deepEqual(await check(none, { prompt: 'blood' }), { kind: 'allowed' });
  assert.equal(fake.received.length, 1);
});

test('the hook of a model has a model, a time limit and a handling of errors of its own', async (t) => {
  const own = { shape: 'openai', url: fake.openai, model: 'their-model', onError: 'allow', timeoutSeconds: 3 };
  const moderator = moderatorWith({}, own);
  assert.deepEqual(await check(moderator), { kind: 'allowed' });
  assert.deepEqual(fake.received[0]?.body, { model: 'their-model', input: prompt });
  fake.answerWith(() => undefined);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const verdicts: unknown[] = [];
  const checked = check(moderator).then((verdict) => verdicts.push(verdict));
  await untilTurn('the request', () => fake.received.length > 1);
  t.mock.timers.tick(2_999);
  await nextTurn();
  assert.deepEqual(verdicts, []);
  t.mock.timers.tick(1);
  await checked;
  assert.deepEqual(verdicts, [{ kind: 'allowed' }]);
});

const json = (value: unknown) => (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

/** An answer of so many bytes that allows the content. */
function allowing(bytes: number): string {
  const [start, end] = ['{"results":[{"flagged":false}],"x":"', '"}'];
  return `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`;
}

test('an answer has any status of a success, and at most 256 KiB', async () => {
  fake.answerWith((response) => response.writeHead(299).end(allowing(256 * 1024)));
  assert.deepEqual(await check(moderatorWith()), { kind: 'allowed' });
});

const broken: Record<string, (response: ServerResponse) => unknown> = {
  'an answer that never comes': () => undefined,
  'an answer that stops in its middle': (response) =>
    response.writeHead(200, { 'content-length': 99 }).write('{"results":['),
  'a connection that is cut': (response) => response.destroy(),
  'an error status': (response) => response.writeHead(500).end('{"results":[{"flagged":false}]}'),
  'a choice of addresses': (response) => response.writeHead(300).end('{"results":[{"flagged":false}]}'),
  'too many requests': (response) => response.writeHead(429).end(),
  'a redirect to an endpoint that would allow it': (response) =>
    response.writeHead(307, { location: fake.openai }).end('{"results":[{"flagged":false}]}'),
  'a page': (response) => response.end('<html></html>'),
  'an answer of 256 KiB and a byte': (response) => response.end(allowing(256 * 1024 + 1)),
  'an empty answer': (response) => response.end(),
  'no result': json({ results: [] }),
  'another shape': json({ allow: true }),
  'a verdict that is no boolean': json({ results: [{ flagged: 'false' }] }),
  null: json(null),
};

for (const [name, respond] of Object.entries(broken))
  test(`${name} is handled as onError requires, and the log names neither prompt nor answer`, async (t) => {
    const verdicts: Record<ModerationEndpoint['onError'], ModerationVerdict> = {
      allow: { kind: 'allowed' },
      refuse: { kind: 'unchecked' },
    };
    for (const [onError, verdict] of Object.entries(verdicts)) {
      fake.received.length = 0;
      fake.answerWith(respond);
      const moderator = moderatorWith({ onError: onError as ModerationEndpoint['onError'], timeoutMs }); // a key of the table
      t.mock.timers.enable({ apis: ['setTimeout'] });
      const checked = check(moderator);
      await untilTurn('the request', () => fake.received.length > 0);
      // Only an answer that is incomplete needs the limit; any other comes without it.
      if (name.includes('never') || name.includes('middle')) t.mock.timers.tick(timeoutMs);
      assert.deepEqual(await checked, verdict);
      t.mock.timers.reset();
      assert.equal(fake.received.length, 1, 'it is neither repeated nor redirected');
    }
    assert.deepEqual(
      events.map((event) => event.kind === 'content_checked' && event.outcome),
      ['error', 'error'],
    );
    assert.equal(warned.length, 2);
    assert.doesNotMatch(JSON.stringify(warned), /secret lighthouse|flagged|html/);
  });

test('a hook that cannot be reached, or whose key is missing, is handled as onError requires', async () => {
  const closed = await startModerationHook();
  await closed.close();
  assert.deepEqual(await check(moderatorWith({ url: closed.openai })), { kind: 'unchecked' });
  assert.deepEqual(await check(moderatorWith({ url: closed.openai, onError: 'allow' })), { kind: 'allowed' });
  const missing = () => {
    throw new Error('is not set');
  };
  assert.deepEqual(await check(moderatorWith({ readKey: missing })), { kind: 'unchecked' });
  assert.equal(fake.received.length, 0);
});

test('the log says which check failed and why, and what onError made of it', async () => {
  const closed = await startModerationHook();
  await closed.close();
  const missing = () => {
    throw new Error('HOOK_KEY is not set');
  };
  for (const [onError, respond, why, hook = {}] of [
    ['refuse', broken['an error status'], { kind: 'answer', detail: 'status 500' }],
    ['allow', broken['a page'], { kind: 'answer', detail: 'no JSON' }],
    ['refuse', broken['another shape'], { kind: 'answer', detail: 'another shape' }],
    ['refuse', undefined, { kind: 'setup', detail: 'HOOK_KEY is not set' }, { readKey: missing }],
    ['allow', undefined, { kind: 'connect', detail: 'ECONNREFUSED' }, { url: closed.openai }],
  ] as const) {
    warned = [];
    fake.answerWith(respond);
    await check(moderatorWith({ onError, ...hook }));
    assert.deepEqual(warned, [[{ model: 'videogen-2.0-fast', onError, ...why }, 'moderation hook failed']]);
  }
});

test('a flagged answer without a category, or with categories without scores, is a refusal', async () => {
  const moderator = moderatorWith();
  for (const [result, category] of [
    [{ flagged: true }, 'unspecified'],
    [{ flagged: true, categories: { sexual: false } }, 'unspecified'],
    [{ flagged: true, categories: { hate: true, sexual: true }, category_scores: { sexual: 0.1 } }, 'sexual'],
    [{ flagged: true, categories: { hate: true, sexual: true }, category_scores: { hate: 0.1 } }, 'hate'],
  ] as const) {
    fake.answerWith(json({ results: [{ flagged: false, categories: { violence: true } }, result] }));
    assert.deepEqual(await check(moderator), { kind: 'refused', category });
  }
});

test('a refusal counts although another request of the same create fails', async () => {
  let requests = 0;
  fake.answerWith((response) => {
    requests += 1;
    if (requests === 1) response.destroy();
    else json({ results: [{ flagged: true, categories: { sexual: true } }] })(response);
  });
  const imageUrls = ['https://client.test/a.jpg', 'https://client.test/b.jpg'];
  const verdict = await check(moderatorWith({ concurrency: 1 }), { imageUrls });
  assert.deepEqual(verdict, { kind: 'refused', category: 'sexual' });
});

test('no more requests than the limit run concurrently, and identical content that is checked concurrently is sent once', async () => {
  let [running, most] = [0, 0];
  const held: ServerResponse[] = [];
  fake.answerWith((response) => {
    running += 1;
    most = Math.max(most, running);
    held.push(response);
  });
  const release = () => {
    for (const response of held.splice(0)) {
      running -= 1;
      json({ results: [{ flagged: false }] })(response);
    }
  };
  const moderator = moderatorWith({ concurrency: 3 });
  const prompts = Array.from({ length: 10 }, (_, index) => `prompt ${index}`);
  const checks = [...prompts, ...prompts].map((one) => check(moderator, { prompt: one }));
  // The prompt is the same, and the image or the model is another one.
  checks.push(check(moderator, { prompt: 'prompt 0', imageUrls: ['https://client.test/a.jpg'] }));
  checks.push(moderator.check({ model: 'videogen-2.0', prompt: 'prompt 0', imageUrls: [] }));
  while (fake.received.length < 12 || held.length > 0) {
    const expected = Math.min(3, 12 - fake.received.length + held.length);
    await waitFor('held requests', async () => (held.length >= expected ? true : undefined));
    release();
  }
  assert.deepEqual(new Set((await Promise.all(checks)).map(({ kind }) => kind)), new Set(['allowed']));
  assert.deepEqual([fake.received.length, most], [12, 3]);
});
