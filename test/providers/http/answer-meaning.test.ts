import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '../../../src/platform/text/json.ts';
import { jobOf, jobRequest, signal, statusOf } from '../contract/job-request.ts';
import { answering } from '../loopback-client.ts';
import { httpProvider, shippedFile } from './shipped-file.ts';

const file = shippedFile('kie', {
  create: { path: "'/jobs'", json: '{}', id: 'body.id' },
  status: { path: "'/jobs/' & job.id", state: 'body.state', states: { done: 'succeeded', bad: 'failed' } },
  error: { code: 'body.code', message: 'body.message' },
  errors: [
    { status: 400, code: 'A1', contains: 'Big Image', kind: 'image' },
    { code: 'B*', kind: 'content' },
    { contains: 'NSFW', kind: 'content' },
    { code: 'C', kind: 'busy' },
    { code: '7', kind: 'input' },
    { status: 410, kind: 'unknown' },
  ],
});

/** What an answer with this status and body means for a create, and for a job that has failed with the same words. */
async function meaningOf(status: number, words: JsonObject) {
  const outcome = await httpProvider(file, answering(status, words)).submit(jobRequest(), signal);
  const body = { ...words, state: 'bad' };
  const ended = await statusOf(httpProvider(file, answering(200, body)), jobOf(jobRequest(), 'job-1'));
  assert.ok(ended.state === 'failed');
  const ofCreate =
    outcome.kind === 'refused' ? outcome.error.kind : outcome.kind === 'not_accepted' ? outcome.reason : outcome.kind;
  return [ofCreate, ended.error.kind];
}

describe('the first rule of a file whose every condition holds decides the meaning of an error', () => {
  for (const [status, words, ofCreate, ofJob = ofCreate] of [
    [400, { code: 'A1', message: 'the big IMAGE' }, 'image', 'upstream'],
    [422, { code: 'A1', message: 'the big image' }, 'upstream'],
    [400, { code: 'A1', message: 'too small' }, 'upstream'],
    [400, { code: 'A12', message: 'the big image' }, 'upstream'],
    [400, { code: 'B' }, 'content'],
    [400, { code: 'Bx', message: 'no' }, 'content'],
    [400, { code: 'AB', message: 'no' }, 'upstream'],
    [400, { message: 'it is nsfw' }, 'content'],
    [400, { message: { reason: 'nsfw' } }, 'content'],
    [400, { message: `${'x'.repeat(1020)}nsfw` }, 'content'],
    [400, { message: `${'x'.repeat(1021)}nsfw` }, 'upstream'],
    [400, { code: 'C', message: 'later' }, 'busy', 'upstream'],
    [400, { code: 'Cx', message: 'later' }, 'upstream'],
    [400, { code: 7 }, 'input'],
    [410, { message: 'gone' }, 'unknown', 'upstream'],
    [500, { code: 'B' }, 'unknown', 'content'],
    [408, { code: 'B' }, 'unknown', 'content'],
  ] as const)
    test(`${status} ${JSON.stringify(words).slice(0, 80)} is ${ofCreate} of a create, and ${ofJob} of a job`, async () => {
      assert.deepEqual(await meaningOf(status, words), [ofCreate, ofJob]);
    });
});

test('a code has at most a hundred characters, and an error without one has none', async () => {
  const errorBy = async (body: JsonObject) => {
    const outcome = await httpProvider(file, answering(400, body)).submit(jobRequest(), signal);
    assert.ok(outcome.kind === 'refused');
    return outcome.error;
  };
  const [long, plain] = [{ code: 'c'.repeat(101) }, { message: 'no' }];
  const detailOf = (body: JsonObject) => `HTTP 400: ${JSON.stringify(body)}`;
  assert.deepEqual(await errorBy(long), { kind: 'upstream', code: 'c'.repeat(100), detail: detailOf(long) });
  assert.deepEqual(await errorBy(plain), { kind: 'upstream', detail: detailOf(plain) });
});
