import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  verdictsOnEveryAnswer,
  receivedOf,
  jobStatusIn,
} from '../../../src/providers/own/conformance-rules-and-verdicts.ts';

const request = { method: 'GET', path: '/jobs/1', id: '1' };
const chunked = { 'transfer-encoding': 'chunked' };

function received(status: number, body: object | string, headers: Readonly<Record<string, string>> = chunked) {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return receivedOf(request, { answer: { status, headers, body: bytes } });
}

const record = (more: object = {}) => received(200, { id: '1', status: 'running', ...more });
const refusal = (error: unknown) => received(404, { error });

/** The outcomes by rule, with why a rule failed. */
function outcomesOf(...all: readonly ReturnType<typeof received>[]) {
  return Object.fromEntries(
    verdictsOnEveryAnswer(all).map(([rule, { outcome, came }]) => [
      rule,
      outcome === 'fail' ? came?.slice(0, came.indexOf(': GET')) : outcome,
    ]),
  );
}

const good = {
  'record-id': 'pass',
  'record-status': 'pass',
  'record-fields': 'pass',
  errors: 'skipped',
  length: 'pass',
  size: 'pass',
};

test('good answers break no rule', () => {
  const end = { error: { code: 'oom' }, cost: { micros: 0, currency: 'EUR' } };
  for (const more of [
    ...['queued', 'running', 'succeeded', 'canceled'].map((status) => ({ status })),
    ...[0, 100, null].map((progress) => ({ progress })),
    { error: null, cost: null },
    { status: 'failed', ...end },
  ])
    assert.deepEqual(outcomesOf(record(more)), good, JSON.stringify(more));
  assert.deepEqual(outcomesOf(record(), refusal({ code: 'not_found', message: 'no' })), { ...good, errors: 'pass' });
  const length = received(200, { id: '1', status: 'running' }, { 'content-length': '30' });
  assert.deepEqual(outcomesOf(length), good);
});

test('each broken rule is found, also in one answer of several, and no other one', () => {
  const message = { error: { message: 'no' } };
  for (const [answer, broken] of [
    [received(200, { id: '2', status: 'running' }), { 'record-id': 'another id' }],
    [record({ status: 'dreaming' }), { 'record-status': 'unknown word' }],
    [record({ status: 'failed' }), { 'record-fields': 'error: is missing' }],
    [received(200, { id: '1', status: 'running' }, {}), { length: 'neither' }],
    [received(200, { id: '1', status: 'running' }, { 'transfer-encoding': 'gzip' }), { length: 'neither' }],
    [received(404, message), { errors: 'no error with a code' }],
    [received(400, '<h1>a proxy</h1>'), { errors: 'no error with a code' }],
    [refusal({ code: '' }), { errors: 'no error with a code' }],
    [record({ note: 'x'.repeat(64 * 1024) }), { size: 'more' }],
    [refusal({ code: 'x', message: 'x'.repeat(64 * 1024) }), { errors: 'pass', size: 'more' }],
  ] as const)
    assert.deepEqual(outcomesOf(record(), answer), { ...good, ...broken }, JSON.stringify(broken));
  for (const [field, value] of [
    ['progress', -1],
    ['progress', 101],
    ['cost.micros', { micros: -1, currency: 'EUR' }],
    ...['credits', 'EURO', 'xEUR'].map((currency) => ['cost.currency', { micros: 1, currency }] as const),
  ] as const) {
    const outcome = outcomesOf(record({ [field.split('.')[0] ?? '']: value }))['record-fields'];
    assert.ok(outcome?.startsWith(`${field}: `), `${field} ${outcome}`);
  }
});

test('a record and an error may have 64 KiB', () => {
  const empty = JSON.stringify({ id: '1', status: 'running', note: '' }).length;
  assert.deepEqual(outcomesOf(record({ note: 'x'.repeat(64 * 1024 - empty) })), good);
});

test('a request without an answer is no answer of any kind, and is shown with its error', () => {
  const lost = receivedOf(request, { error: new Error('socket hang up') });
  assert.equal(lost.came, 'GET /jobs/1: no answer: socket hang up');
  assert.deepEqual([lost.status, lost.body, jobStatusIn(lost)], [undefined, undefined, undefined]);
  assert.deepEqual(new Set(Object.values(outcomesOf(lost))), new Set(['skipped']));
});

test('only the status in a 2xx is that of a job', () => {
  const statusOf = (status: number) => jobStatusIn(received(status, { status: 'running' }));
  assert.deepEqual([200, 202, 299, 300, 404].map(statusOf), ['running', 'running', 'running', undefined, undefined]);
  assert.equal(jobStatusIn(received(200, { status: 7 })), undefined);
});
