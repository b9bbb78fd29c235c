import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LostCreateToRecover } from '../../../src/providers/provider-contract.ts';
import {
  findJobOfCreate,
  isSinceCreate,
  listsAllSinceCreate,
} from '../../../src/providers/jobs/pick-job-of-lost-create.ts';
import { jobRequest, lostCall } from '../contract/job-request.ts';

// Upstreams without names for jobs list candidates. A task that got the job of another would deliver a stranger's video.

const twoMinutesAgo = () => Date.now() - 120_000;
const [one, two] = [{ id: 'one', handle: { at: 'x' } }, { id: 'two' }];

function find(
  candidates: readonly { readonly id: string }[],
  changes: Partial<LostCreateToRecover> = {},
  isComplete = true,
) {
  return findJobOfCreate(candidates, lostCall(jobRequest(), changes), isComplete);
}

describe('a create whose response was lost', () => {
  test('is found if one candidate alone belongs to no other job of ours', async () => {
    assert.deepEqual(await find([one]), { kind: 'found', ...one });
    assert.deepEqual(await find([one, two], { claimed: async () => new Set(['two']) }), { kind: 'found', ...one });
    assert.equal((await find([one], { claimed: async () => new Set(['one']) })).kind, 'later');
  });

  test('stays unknown if two jobs may be it, another create is unanswered, or the list is incomplete', async () => {
    for (const [candidates, rivals, isComplete] of [
      [[one, two], 0, true],
      [[one], 1, true],
      [[one], 0, false],
    ] as const) {
      const countRivals = async () => rivals;
      const old = { countRivals, intendedAt: twoMinutesAgo() };
      assert.equal((await find(candidates, { countRivals }, isComplete)).kind, 'later');
      assert.equal((await find(candidates, old, isComplete)).kind, 'unknown');
    }
  });

  test('is not found in the job of a create that gets its response while the look-up runs', async () => {
    const unanswered = new Set(['one']);
    const stored = new Set<string>();
    const answer = () => {
      for (const id of unanswered) stored.add(id);
      unanswered.clear();
    };
    const found = await find([one], {
      countRivals: async () => {
        const rivals = unanswered.size;
        answer();
        return rivals;
      },
      claimed: async (ids) => {
        const claimed = new Set(ids.filter((id) => stored.has(id)));
        answer();
        return claimed;
      },
    });
    assert.equal(found.kind, 'later');
  });

  test('is never denied by an empty list, which may lag for two minutes and needs no claims', async () => {
    const claimed = async () => Promise.reject(new Error('claims were read'));
    assert.equal((await find([], { claimed })).kind, 'later');
    assert.deepEqual(await find([], { claimed, intendedAt: twoMinutesAgo() }), {
      kind: 'unknown',
      detail: '0 jobs could be this one, and 0 other creates are unanswered',
    });
  });

  test('is looked up often at first, and last when the list can no longer lag', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000_000 });
    const pauseAt = async (ageMs: number) => {
      const found = await find([], { intendedAt: Date.now() - ageMs });
      return found.kind === 'later' ? found.afterMs : found.kind;
    };
    const pauses = await Promise.all([0, 10_000, 60_000, 119_000, 120_000].map(pauseAt));
    assert.deepEqual(pauses, [2_000, 5_000, 15_000, 1_000, 'unknown']);
  });
});

test('a job counts as made since the create from a minute before it on, because clocks differ', () => {
  const lost = { intendedAt: 1_000_000 };
  assert.deepEqual(
    [939, 940, 1_000].map((createdAt) => isSinceCreate(createdAt, lost)),
    [false, true, true],
  );
  const [newer, older] = [{ created_at: 940 }, { created_at: 939 }];
  for (const [jobs, isCut, listsAll] of [
    [[], false, true],
    [[newer], false, true],
    [[], true, false],
    [[newer, newer], true, false],
    [[newer, older], true, true],
  ] as const)
    assert.equal(listsAllSinceCreate(jobs, isCut, lost), listsAll);
});
