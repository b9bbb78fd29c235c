import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { callbackFormatOf } from '../../../src/api/dialects/shapes.ts';
import type { TaskRecord } from '../../../src/tasks/public-record.ts';
import {
  arkSuccess,
  cancelled,
  failed,
  firstAlias,
  kieFailed,
  kieSuccess,
  links,
  models,
  parsed,
  success,
  withParam,
} from './known-records.ts';

// How each API writes a callback.

const bodyOf = (api: string, record: TaskRecord) => parsed(callbackFormatOf(api).callbackBody(record, models));
const callbacks: readonly (readonly [what: string, sent: object, expected: object])[] = [
  ['native', bodyOf('native', success), { code: 200, msg: 'success', data: success }],
  ['native, of a failure', bodyOf('native', failed), { code: 200, msg: 'success', data: failed }],
  ['openai', bodyOf('openai', success), openAIEvent('video.completed', 1_700_000_200)],
  ['openai, of a failure', bodyOf('openai', failed), openAIEvent('video.failed', 1_700_000_200)],
  [
    'openai, without a time of its end',
    bodyOf('openai', { ...failed, completeTime: null }),
    openAIEvent('video.failed', 1_700_000_100),
  ],
  [
    'openrouter',
    bodyOf('openrouter', success),
    {
      type: 'video.generation.completed',
      created_at: new Date(1_700_000_200_999).toISOString(),
      data: {
        id: 'task',
        model: 'their-name',
        status: 'completed',
        urls: links.resultUrls,
        unsigned_urls: links.resultUrls,
        usage: { is_byok: false, credits: 280 },
      },
    },
  ],
  [
    'openrouter, of a cancelled video without a time of its end',
    bodyOf('openrouter', { ...cancelled, completeTime: null }),
    {
      type: 'video.generation.cancelled',
      created_at: new Date(1_700_000_100_999).toISOString(),
      data: { id: 'task', model: firstAlias, status: 'cancelled', error: 'It was cancelled. (cancelled)' },
    },
  ],
  ['ark', bodyOf('ark', success), arkSuccess],
  ['kie', kieBody(success), { code: 200, msg: 'success', data: kieSuccess }],
  [
    'kie, of a failure',
    kieBody(failed),
    { code: 501, msg: 'It took too long.', data: { ...kieFailed, resultJson: null } },
  ],
];
for (const [what, sent, expected] of callbacks) {
  test(`the callback in the form ${what} has each value under its documented name`, () =>
    assert.deepEqual(sent, expected));
}

function openAIEvent(type: string, createdAt: number): object {
  return { id: 'evt_task', object: 'event', type, created_at: createdAt, data: { id: 'task' } };
}

/** `data` is a record of kie.ai, which is an object. */
function kieBody(record: TaskRecord): object {
  const { data, ...others } = bodyOf('kie', record);
  return { ...others, data: withParam(data as object) };
}

test('a callback is signed as its API documents, after a rotation with the new secret', () => {
  const callback = { taskId: 'task', timestampSeconds: 1_700_000_300, secrets: ['new', 'old'], body: '{}' };
  const sign = (text: string, encoding: 'hex' | 'base64') => createHmac('sha256', 'new').update(text).digest(encoding);
  const headersOf = (api: string) => callbackFormatOf(api).callbackHeaders(callback);
  assert.deepEqual(headersOf('kie'), {
    'x-webhook-timestamp': '1700000300',
    'x-webhook-signature': sign('task.1700000300', 'base64'),
  });
  assert.deepEqual(headersOf('openrouter'), {
    'x-openrouter-signature': `t=1700000300,v1=${sign('1700000300,{}', 'hex')}`,
    'x-openrouter-idempotency-key': 'msg_task',
  });
  for (const api of ['native', 'openai', 'ark']) assert.deepEqual(headersOf(api), {});
});
