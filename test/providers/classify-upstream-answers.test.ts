import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  classifyCreate,
  bodyOrStatusOfPoll,
  codedErrorIn,
  type CreateRules,
  createStateReader,
  declinesCancel,
  detailOfAnswerOrError,
  isStorableJob,
  parsedBodyOrPollStatus,
  type AnswerOrError,
  storableUpstreamError,
} from '../../src/providers/classify-upstream-answers.ts';

const vendorError = { error: { code: 'quota', message: 'no' } };

const rules: CreateRules = {
  errorOf: ({ error }) =>
    typeof error === 'object' && error !== null && 'code' in error && typeof error['code'] === 'string'
      ? { code: error['code'] }
      : undefined,
  jobOf: ({ id }) => (typeof id === 'string' ? { id } : undefined),
  classify: ({ code, detail }) => {
    if (code === 'full') return { kind: 'not_accepted', reason: 'overloaded', detail };
    return code === 'nsfw' ? { kind: 'refused', error: { kind: 'content', code, detail } } : undefined;
  },
};

function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): AnswerOrError {
  return { answer: { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) } };
}

const nsfw = { kind: 'refused', error: { kind: 'content', code: 'nsfw' } };
const refused = { kind: 'refused', error: { kind: 'upstream', code: 'quota' } };
const overloaded = { kind: 'not_accepted', reason: 'overloaded' };

/** An outcome, without the detail for operators. */
type Expected = { readonly kind: string; readonly error?: object; readonly [field: string]: unknown };
const cases: readonly (readonly [title: string, reply: AnswerOrError, expected: Expected])[] = [
  ['an error that does not mention sending', { error: new Error('socket hang up') }, { kind: 'unknown' }],
  ['an error after sending', { error: fault(true) }, { kind: 'unknown' }],
  ['an error before sending', { error: fault(false) }, { kind: 'not_accepted', reason: 'unreachable' }],
  ['something thrown that is no error', { error: { wasSent: false } }, { kind: 'unknown' }],
  ['299 with an id', answer(299, { id: 'j1' }), { kind: 'accepted', id: 'j1' }],
  ['300 with an id', answer(300, { id: 'j1' }), { kind: 'not_accepted', reason: 'operator' }],
  ['201 with an id', answer(201, { id: 'j1' }), { kind: 'accepted', id: 'j1' }],
  ['200 with an id beside an error', answer(200, { id: 'j1', ...vendorError }), { kind: 'accepted', id: 'j1' }],
  ['200 without an id', answer(200, {}), { kind: 'unknown' }],
  ['200 with an empty id', answer(200, { id: '' }), { kind: 'unknown' }],
  ['200 with an error that the vendor explains', answer(200, { error: { code: 'nsfw' } }), nsfw],
  ['200 with an id that cannot be stored', answer(200, { id: 'j\u00001' }), { kind: 'unknown' }],
  [
    '200 with an id of 4,096 characters',
    answer(200, { id: 'j'.repeat(4096) }),
    { kind: 'accepted', id: 'j'.repeat(4096) },
  ],
  ['200 with an id that is too long', answer(200, { id: 'j'.repeat(4097) }), { kind: 'unknown' }],
  ['200 with another error', answer(200, vendorError), { kind: 'unknown' }],
  ['200 with a list', answer(200, [{ id: 'j1' }]), { kind: 'unknown' }],
  ['200 with two bodies', answer(200, '{"id":"j1"}{"id":"j1"}'), { kind: 'unknown' }],
  ['301, which frameworks answer to a form that they took', answer(301, ''), { kind: 'unknown' }],
  ['302, which frameworks answer to a form that they took', answer(302, ''), { kind: 'unknown' }],
  ['307', answer(307, ''), { kind: 'not_accepted', reason: 'operator' }],
  ['303, which follows something that was done', answer(303, ''), { kind: 'unknown' }],
  ['400 of the vendor', answer(400, vendorError), refused],
  ['400 of another server', answer(400, { message: 'bad request' }), { kind: 'unknown' }],
  ['401 of another server', answer(401, 'no'), { kind: 'not_accepted', reason: 'operator' }],
  ['402', answer(402, vendorError), { kind: 'not_accepted', reason: 'operator' }],
  ['403', answer(403, vendorError), { kind: 'not_accepted', reason: 'operator' }],
  ['404 of a proxy', answer(404, '<h1>404</h1>'), { kind: 'unknown' }],
  ['408 of the vendor', answer(408, vendorError), { kind: 'unknown' }],
  ['425', answer(425, vendorError), { kind: 'unknown' }],
  ['499', answer(499, vendorError), { kind: 'unknown' }],
  ['429', answer(429, ''), { kind: 'not_accepted', reason: 'busy' }],
  ['429 with a code of the vendor', answer(429, { error: { code: 'full' } }), overloaded],
  ['500 of the vendor', answer(500, vendorError), { kind: 'unknown' }],
  ['503 that the vendor explains', answer(503, { error: { code: 'full' } }), overloaded],
  ['503 of another server', answer(503, 'full'), { kind: 'unknown' }],
];

describe('what an answer to a create proves', () => {
  for (const [title, reply, expected] of cases) {
    test(`${title} is ${JSON.stringify(expected)}`, () => {
      const detail = detailOfAnswerOrError(reply);
      const { error } = expected;
      const described = error === undefined ? { ...expected, detail } : { ...expected, error: { ...error, detail } };
      assert.deepEqual(classifyCreate(reply, rules), expected.kind === 'accepted' ? expected : described);
    });
  }

  for (const [header, expected] of [
    ['7', 7_000],
    ['86400', 3_600_000],
    ['soon', undefined],
    [new Date(0).toUTCString(), 0],
  ] as const) {
    test(`Retry-After: ${header} is ${expected} ms, also with the vendor's own words`, () => {
      for (const body of ['', { error: { code: 'full' } }]) {
        const outcome = classifyCreate(answer(429, body, { 'retry-after': header }), rules);
        assert.ok(outcome.kind === 'not_accepted');
        assert.equal(outcome.retryAfterMs, expected);
      }
    });
  }
});

describe('what an answer to a status request proves', () => {
  const isMissing = (body: object, status: number) => status === 404 && 'gone' in body;

  test('a body of a 2xx is one, a 404 in the words of the vendor a missing job', () => {
    assert.deepEqual(bodyOrStatusOfPoll(answer(200, { a: 1 }), isMissing), { body: { a: 1 } });
    assert.deepEqual(bodyOrStatusOfPoll(answer(404, { gone: true }), isMissing), { status: { state: 'missing' } });
  });

  for (const reply of [
    answer(404, ''),
    answer(404, {}),
    answer(500, {}),
    answer(401, {}),
    answer(200, '{'),
    answer(302, {}),
    { error: new Error('socket hang up') },
  ]) {
    test(`${detailOfAnswerOrError(reply)} is no verdict`, () => {
      assert.deepEqual(bodyOrStatusOfPoll(reply, isMissing), {
        status: { state: 'unclear', detail: detailOfAnswerOrError(reply) },
      });
    });
  }

  test('a body is read only if it has the expected form', () => {
    const read = (reply: AnswerOrError) =>
      parsedBodyOrPollStatus(reply, ({ a }) => (typeof a === 'number' ? a + 1 : undefined));
    assert.deepEqual(read(answer(200, { a: 1 })), { read: 2 });
    for (const reply of [answer(200, { a: 'x' }), answer(500, { a: 1 })])
      assert.deepEqual(read(reply), { status: { state: 'unclear', detail: detailOfAnswerOrError(reply) } });
  });

  test('an error has a code, and no message is an empty one', () => {
    assert.deepEqual(codedErrorIn({ error: { code: 'quota', message: 'no' } }), { code: 'quota', message: 'no' });
    assert.deepEqual(codedErrorIn({ error: { code: 'quota' } }), { code: 'quota', message: '' });
    assert.equal(codedErrorIn({ error: { code: '', message: 'no' } }), undefined);
  });

  test('an upstream that requests a pause gets it', () => {
    const poll = bodyOrStatusOfPoll(answer(429, '', { 'retry-after': '9' }), isMissing);
    assert.deepEqual(poll, { status: { state: 'unclear', retryAfterMs: 9_000, detail: 'HTTP 429: ' } });
  });

  test('only a refusal of the cancellation itself leaves the job running', () => {
    const declined = [200, 302, 400, 401, 402, 403, 404, 405, 408, 409, 425, 429, 499, 500].filter((status) =>
      declinesCancel(answer(status, '')),
    );
    assert.deepEqual(declined, [400, 404, 405, 409]);
    assert.equal(declinesCancel({ error: fault(false) }), false);
  });

  test('an unknown state means running, and is logged once, for twenty words at most', () => {
    const told: string[] = [];
    const read = createStateReader({ done: 'succeeded' }, (event, word) => told.push(`${event}: ${word}`));
    assert.equal(read('done'), 'succeeded');
    assert.deepEqual(['odd', 'odd', 'constructor'].map(read), ['running', 'running', 'running']);
    for (let index = 0; index < 50; index += 1) read(`word ${index}`);
    assert.deepEqual(told.slice(0, 2), ['provider state unknown: odd', 'provider state unknown: constructor']);
    assert.equal(told.length, 20);
  });
});

describe('the detail for operators', () => {
  test('is bounded, and can be stored', () => {
    const detail = detailOfAnswerOrError(answer(500, `\0${'🎬'.repeat(10_000)}`));
    // The zero takes a place of the 8,192 characters.
    assert.equal(detail.length, 8191);
    assert.ok(detail.isWellFormed() && !detail.includes('\0'));
    assert.deepEqual(storableUpstreamError('input', 'c'.repeat(101), 'm'.repeat(8193)), {
      kind: 'input',
      code: 'c'.repeat(100),
      detail: 'm'.repeat(8192),
    });
  });

  test('includes the details of an error of our client', () => {
    const error = Object.assign(new Error('The address could not be reached.'), { detail: 'ECONNREFUSED' });
    assert.equal(detailOfAnswerOrError({ error }), 'The address could not be reached. (ECONNREFUSED)');
  });
});

function fault(wasSent: boolean): Error {
  return Object.assign(new Error('socket hang up'), { wasSent });
}

test('a handle is stored when it has at most 4,096 bytes, however few characters these are', () => {
  const handle = (text: string) => ({ id: 'j1', handle: { text } });
  const empty = '{"text":""}'.length;
  assert.equal(isStorableJob(handle('x'.repeat(4096 - empty))), true);
  assert.equal(isStorableJob(handle('x'.repeat(4097 - empty))), false);
  assert.equal(isStorableJob(handle('漢'.repeat(1_400))), false);
});
