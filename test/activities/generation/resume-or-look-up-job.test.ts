import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookUpLostCreate } from '../../../activities/generation/resume-or-look-up-job.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import type { LostCreateToRecover, PolledProvider, RecoverOutcome } from '../../../src/providers/provider-contract.ts';
import { recordLog } from '../../support/log-lines.ts';
import { recordEvents } from '../../support/service/metric-event-sinks.ts';
import { taskParam } from '../../support/tasks/tasks.ts';

// One lookup of a create whose response was lost; the provider and the database are played.

type Played = {
  readonly ageMs?: number;
  readonly submitTimeoutMs?: number;
  /** The row without a pool and without the time of its intent, as of an old one. */
  readonly isBare?: boolean;
};

async function lookUp(
  recover: () => Promise<RecoverOutcome>,
  { ageMs = 0, submitTimeoutMs = 1, isBare = false }: Played = {},
) {
  const events = recordEvents('provider_lookup');
  const statements: unknown[] = [];
  const run = async ({ name }: { readonly name: string }, values: unknown) => {
    statements.push([name, values]);
    return name === 'count-rival-creates' ? [{ rivals: 3 }] : [{ jobId: 'taken' }];
  };
  const db = { run } as unknown as Database; // all that a lookup uses
  const asked: LostCreateToRecover[] = [];
  const provider = {
    name: 'upstream',
    submitTimeoutMs,
    recover: async (lost: LostCreateToRecover) => (asked.push(lost), recover()),
  } as unknown as PolledProvider; // all that a lookup uses
  const { log, lines } = recordLog();
  const deps = { db, log, events, hashAccount: (id: string) => [`hash of ${id}`, 'old'] as const };
  const { input } = taskParam('a boat');
  const at = isBare ? {} : { pool: 'upstream/m', intendedAt: 7 };
  const row = { ordinal: 2, provider: 'name of the row', ageMs, pool: undefined, intendedAt: undefined, ...at };
  const request = { taskId: 't', jobKey: 'key', model: 'm', input, deadlineMs: 9 };
  const lost = { ...request, accountId: 'alice', row };
  const { signal } = new AbortController();
  const outcome = await lookUpLostCreate(deps, { provider, imageReference: undefined }, lost, signal);
  const [sought] = asked;
  return { outcome, counted: events.seen, lines, sought: sought ?? assert.fail(), statements, request };
}

const found = { kind: 'found', id: 'job-1', handle: { a: 'b' } } as const;
const later = (afterMs: number) => ({ kind: 'later', afterMs });
const unknown = (detail: string) => ({ kind: 'unknown', detail });
const minuteMs = 60_000;

for (const [answer, played, expected] of [
  [found, {}, found],
  [{ kind: 'found', id: 'two words' }, {}, unknown('the job has no usable id')],
  [{ kind: 'not_created' }, { ageMs: minuteMs }, { kind: 'not_created' }],
  [{ kind: 'not_created' }, { ageMs: minuteMs - 1 }, later(1)],
  [{ kind: 'not_created' }, { ageMs: 0 }, later(15_000)],
  [{ kind: 'not_created' }, { ageMs: minuteMs, submitTimeoutMs: 90_000 }, later(15_000)],
  [{ kind: 'not_created' }, { ageMs: 80_000, submitTimeoutMs: 90_000 }, later(10_000)],
  [{ kind: 'later', afterMs: 5 }, { ageMs: 10 * minuteMs - 1 }, later(5)],
  [{ kind: 'later', afterMs: 5 }, { ageMs: 10 * minuteMs }, unknown('no response in ten minutes')],
  [unknown('two candidates'), {}, unknown('two candidates')],
  [new Error('a refused connection'), {}, later(15_000)],
  [new Error('a refused connection'), { ageMs: 10 * minuteMs }, unknown('no response in ten minutes')],
] as const) {
  const what = answer instanceof Error ? 'fails' : `answers ${JSON.stringify(answer)}`;
  test(`a lookup that ${what}, as of ${JSON.stringify(played)}, means ${JSON.stringify(expected)}, and is counted`, async () => {
    const recover = async () => {
      if (answer instanceof Error) throw answer;
      return answer as RecoverOutcome; // one of the outcomes
    };
    const { outcome, counted, lines } = await lookUp(recover, played);
    assert.deepEqual(outcome, expected);
    assert.deepEqual(counted, [{ kind: 'provider_lookup', provider: 'upstream', outcome: expected.kind }]);
    const failed = { level: 30, taskId: 't', provider: 'name of the row', msg: 'job lookup failed' };
    assert.deepEqual(lines, answer instanceof Error ? [{ ...failed, detail: answer.message }] : []);
  });
}

test('a provider learns all about the lost create, which ids are taken, and how many rivals there are', async () => {
  const { sought, statements, request } = await lookUp(() => Promise.resolve(found));
  const { claimed, countRivals, ...about } = sought;
  assert.deepEqual(about, { ...request, ordinal: 2, accountHashes: ['hash of alice', 'old'], intendedAt: 7 });
  assert.deepEqual(await claimed(['taken', 'free']), new Set(['taken']));
  assert.equal(await countRivals(), 3);
  assert.deepEqual(statements, [
    ['list-claimed-jobs', ['name of the row', ['taken', 'free'], ['taken', 'free']]],
    ['count-rival-creates', ['upstream/m', 't', 2, 7]],
  ]);
  const since = Date.now();
  const bare = await lookUp(() => Promise.resolve(found), { isBare: true });
  assert.ok(bare.sought.intendedAt >= since);
  await bare.sought.countRivals();
  assert.deepEqual(bare.statements, [['count-rival-creates', ['', 't', 2, bare.sought.intendedAt]]]);
});
