import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withDefaults } from '../../../src/catalogue/input/task-input.ts';
import { createAccountPseudonymizer } from '../../../src/platform/secrets/account-pseudonyms.ts';
import { jobRequest } from '../contract/job-request.ts';
import { answering } from '../loopback-client.ts';
import { arkProvider, recover, stage } from './ark-stage.ts';

// Ark has neither names for jobs nor repeatable creates, so a job is found by its account, time and input.

describe('a create whose answer was lost', () => {
  test('is found as the only job of its account, ratio and length', async (t) => {
    const { provider, begin } = await stage(t);
    const { request, job } = await begin();
    await begin();
    assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
  });

  test('with an adaptive ratio is found by the one that was chosen', async (t) => {
    const { provider, begin } = await stage(t);
    const { request, job } = await begin({ input: withDefaults({ prompt: 'a fox', ratio: 'adaptive' }) });
    assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
  });

  test('with frames, a seed, options and another resolution is found like every other', async (t) => {
    const { provider, begin } = await stage(t);
    const input = withDefaults({ prompt: 'a fox', resolution: '1080p', seed: 7, options: { cameraFixed: true } });
    const links = { videos: ['https://media.example/1.mp4'] };
    const { request, job } = await begin({ input, links });
    assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
    assert.equal((await recover(provider, { ...request, input: { ...input, duration: 6 } })).kind, 'later');
  });

  test('is found by the pseudonym that its account had before a rotation of the secret', async (t) => {
    const { provider, begin } = await stage(t);
    const [old, current] = ['o'.repeat(32), 'n'.repeat(32)];
    const [accountHash] = createAccountPseudonymizer({ secret: old })('account-1');
    const { request, job } = await begin({ accountHash });
    const hashesBy = (...secretPrevious: readonly string[]) =>
      createAccountPseudonymizer({ secret: current, secretPrevious })('account-1');
    assert.deepEqual(await recover(provider, request, { accountHashes: hashesBy(old) }), { kind: 'found', id: job.id });
    assert.equal((await recover(provider, request, { accountHashes: hashesBy() })).kind, 'later');
  });

  test('is found also when the job has ended meanwhile', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    const { request, job } = await begin();
    await upstream.books.end(job.id, 'failed');
    assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
  });

  test('is not mistaken for a job of another task', async (t) => {
    const { provider, begin } = await stage(t);
    const { request, job } = await begin();
    const other = async () => new Set([job.id]);
    assert.equal((await recover(provider, request, { claimed: other })).kind, 'later');
    assert.equal((await recover(provider, jobRequest())).kind, 'later');
    for (const input of [withDefaults({ prompt: 'x', duration: 6 }), withDefaults({ prompt: 'x', ratio: '1:1' })]) {
      assert.equal((await recover(provider, { ...request, input })).kind, 'later');
    }
    assert.equal((await recover(provider, request, { intendedAt: Date.now() + 120_000 })).kind, 'later');
  });

  test('is found once a lagging list has it', async (t) => {
    const { upstream, provider, begin } = await stage(t);
    upstream.lag(true);
    const { request, job } = await begin();
    assert.equal((await recover(provider, request)).kind, 'later');
    upstream.lag(false);
    assert.deepEqual(await recover(provider, request), { kind: 'found', id: job.id });
  });
});

describe('a list of jobs', () => {
  const request = jobRequest();
  const record = (id: string, changes: object = {}) => ({
    id,
    status: 'running',
    created_at: Math.floor(Date.now() / 1000),
    safety_identifier: request.accountHash,
    ...changes,
  });
  const listing = (items: readonly object[], total = items.length) =>
    arkProvider('http://ark.example', { client: answering(200, { total, items }) });

  test('may leave out the input of the job', async () => {
    assert.deepEqual(await recover(listing([record('cgt-1')]), request), { kind: 'found', id: 'cgt-1' });
  });

  test('without the mark of the account proves nothing', async () => {
    const nameless = listing([record('cgt-1', { safety_identifier: undefined })]);
    assert.equal((await recover(nameless, request)).kind, 'later');
  });

  test('that is full of newer jobs may hide another one', async () => {
    const newer = Array.from({ length: 499 }, (_, index) => record(`x-${index}`, { safety_identifier: 'another' }));
    assert.equal((await recover(listing([...newer, record('cgt-1')]), request)).kind, 'later');
    assert.equal((await recover(listing([record('cgt-1')], 2), request)).kind, 'later', 'one of two');
    const older = record('old', { created_at: 1 });
    const whole = listing([record('cgt-1'), ...newer.slice(0, 498), older]);
    assert.deepEqual(await recover(whole, request), { kind: 'found', id: 'cgt-1' });
  });
});
