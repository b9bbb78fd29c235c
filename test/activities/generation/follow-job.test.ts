import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerParts } from '../../../src/run/main/wire-activities.ts';
import type { JobStatus, PolledProvider } from '../../../src/providers/provider-contract.ts';
import {
  finalRequestLimitMs,
  withFinalRequestLimit,
} from '../../../activities/generation/end-declined-or-stop-cancelled-job.ts';
import { createTestDeadlines } from '../../support/test-deadlines.ts';
import { database, noop, played, prepareGenerations, upstreamOf } from './routing-stage.ts';

prepareGenerations();

// A job that runs upstream, until it has ended.

test('an attempt that has ended keeps no watch: not of a deadline, nor of its task, nor of the switch of its provider', async () => {
  const watched: Record<string, number> = { deadline: 0, task: 0, switch: 0 };
  const open = new Set<object>();
  /** Counts a watch, and remembers it until its end. */
  const held = <Watch extends { readonly stop: () => void }>(kind: string, watch: Watch): Watch => {
    watched[kind] = (watched[kind] ?? 0) + 1;
    open.add(watch);
    return {
      ...watch,
      stop: () => {
        open.delete(watch);
        watch.stop();
      },
    };
  };
  const change = ({ watches, ...parts }: WorkerParts): WorkerParts => {
    const { attempts, switches, startDeadline } = watches;
    return {
      ...parts,
      watches: {
        ...watches,
        attempts: { begin: (taskId) => held('task', attempts.begin(taskId)) },
        switches: { ...switches, watch: (provider) => held('switch', switches.watch(provider)) },
        startDeadline: (leftMs) => held('deadline', startDeadline(leftMs)),
      },
    };
  };
  const { end } = await played({ upstreams: [upstreamOf('first')], change });
  assert.equal(end, 'success');
  assert.deepEqual([watched, open.size], [{ deadline: 2, task: 1, switch: 1 }, 0]);
});

test('a job that had ended before the deadline is followed beyond it, until its upstream reports the video again', async () => {
  const upstream = upstreamOf('first');
  const deadlines = createTestDeadlines();
  let polls = 0;
  const status: PolledProvider['status'] = async (jobs, signal) => {
    polls += 1;
    if (polls === 2) deadlines.pass();
    const running = (): JobStatus => ({ state: 'running' });
    return polls === 1 || polls > 4
      ? await upstream.provider.status(jobs, signal)
      : new Map(jobs.map(({ jobKey }) => [jobKey, running()]));
  };
  let downloads = 0;
  const result: PolledProvider['result'] = async (...asked) => {
    downloads += 1;
    if (downloads === 1) throw new Error('our store is down');
    return await upstream.provider.result(...asked);
  };
  const change = ({ watches, ...parts }: WorkerParts): WorkerParts => ({
    ...parts,
    watches: { ...watches, startDeadline: deadlines.startDeadline },
  });
  const provider = { ...upstream.provider, status, result };
  const story = { upstreams: [{ ...upstream, provider }], betweenAttempts: noop, change };
  const { end, calls } = await played(story);
  assert.deepEqual([end, calls, polls, downloads], ['success', ['first success'], 5, 2]);
});

test('an attempt is recorded as alive at the deadline before its job is stopped, so that the next one finds the deadline passed', async () => {
  const upstream = upstreamOf('first', { instant: false });
  const deadlines = createTestDeadlines();
  const run = (text: string) =>
    database.db.run<{ isSeen: boolean }>({ name: 'test-seen', text, plannedAnew: true }, [upstream.asked[0]]);
  const status: PolledProvider['status'] = async (jobs, signal) => {
    await run(`update tasks set attempt_seen_at = now() - interval '1 hour' where id = $1`);
    deadlines.pass();
    return await upstream.provider.status(jobs, signal);
  };
  const seen: unknown[] = [];
  const cancel: PolledProvider['cancel'] = async (...asked) => {
    seen.push(
      ...(await run(`select attempt_seen_at > now() - interval '30 minutes' as "isSeen" from tasks where id = $1`)),
    );
    return await upstream.provider.cancel(...asked);
  };
  const change = ({ watches, ...parts }: WorkerParts): WorkerParts => ({
    ...parts,
    watches: { ...watches, startDeadline: deadlines.startDeadline },
  });
  const upstreams = [{ ...upstream, provider: { ...upstream.provider, status, cancel } }];
  const { end, calls } = await played({ upstreams, change });
  assert.deepEqual([end, calls, seen], ['timeout', ['first abandoned'], [{ isSeen: true }]]);
});

test('one of the last requests about a job is aborted when its time is over, and a late response is not waited for', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let aborted = false;
  const request = withFinalRequestLimit((signal) => {
    signal.addEventListener('abort', () => (aborted = true));
    return new Promise<never>(() => {});
  });
  const rejected = assert.rejects(request, /no response from the provider in 15 s/);
  t.mock.timers.tick(finalRequestLimitMs - 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(aborted, false);
  t.mock.timers.tick(1);
  await rejected;
  assert.equal(aborted, true);
});
