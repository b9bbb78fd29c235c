import { createAccount } from '../../src/credits/open-account.ts';
import assert from 'node:assert/strict';
import { after as afterAll, before, test } from 'node:test';
import fc from 'fast-check';
import { v7 as uuidv7 } from 'uuid';
import { findAccount } from '../../src/accounts/accounts.ts';
import { createKeyUnchecked } from '../../src/accounts/keys/keys.ts';
import { auditLedger } from '../../src/credits/ledger/ledger-audit.ts';
import { recordTasksSeen } from '../../src/tasks/accept/answer-repeated-creates.ts';
import { createTaskAcceptor } from '../../src/tasks/accept/accept-in-batches.ts';
import { createTestDatabase, type TestDatabase } from '../support/database/test-database.ts';
import { runs } from '../support/property.ts';
import { runsWholeMatrix } from '../support/tier.ts';
import { listedTerms, requestOf, taskParam } from '../support/tasks/tasks.ts';
import { after, arrivingNumber, newWorld, nextSteps, type Step, type Weather, type World } from './repeat-model.ts';

const everything: Weather = { maxAttempts: 3, fates: ['answered', 'answer_lost', 'lost', 'held'], readsAtOnce: false };

/** Checks every world that can follow, once. Takes are alike, so worlds that differ by their order are one. */
function explore(takes: number, weather: Weather, check: (world: World) => void): number {
  const seen = new Set<string>();
  const open = [newWorld(takes)];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    const name = nameOf(world);
    if (seen.has(name)) continue;
    seen.add(name);
    check(world);
    for (const step of nextSteps(world, weather)) open.push(after(world, step));
  }
  return seen.size;
}

function nameOf({ tasks, takes }: World): string {
  const named = takes.map((take) => JSON.stringify(take)).toSorted();
  return `${named.join()} ${JSON.stringify(tasks.map((task) => ({ ...task, numbers: task.numbers.toSorted((a, b) => a - b) })))}`;
}

/** No more tasks are charged than clients wanted videos, and an id that a client gets is that of a task. */
function assertNoExcess(world: World): void {
  const wanted = world.takes.filter(({ hasArrived }) => hasArrived).length;
  assert.ok(world.tasks.length <= wanted, JSON.stringify(world));
  for (const { task } of world.takes) assert.ok(task === undefined || world.tasks[task] !== undefined);
}

/** Only a client that has got no id can have been charged for a video that nobody gets. */
function assertDelivered(world: World): void {
  const got = new Set(world.takes.flatMap(({ task }) => (task === undefined ? [] : [task])));
  const empty = world.takes.filter(({ task, hasArrived }) => task === undefined && hasArrived).length;
  assert.ok(world.tasks.length - got.size <= empty, JSON.stringify(world));
}

function assertOwnVideos(world: World): void {
  const got = world.takes.flatMap(({ task }) => (task === undefined ? [] : [task]));
  assert.equal(new Set(got).size, got.length, JSON.stringify(world));
}

test('never are more takes charged than have arrived: answers and requests lost, attempts held, in any order', () => {
  assert.ok(explore(2, everything, assertNoExcess) > 3_000);
  assert.ok(explore(runsWholeMatrix ? 4 : 3, { ...everything, maxAttempts: 2 }, assertNoExcess) > 3_000);
});

test('a take is charged once and its client gets its id, whatever is lost or held', () => {
  explore(1, { ...everything, maxAttempts: 4 }, (world) => {
    assertNoExcess(world);
    assertDelivered(world);
  });
});

test('of up to four takes at once, each client gets a video of its own, if only answers are lost', () => {
  const weather: Weather = { maxAttempts: 3, fates: ['answered', 'answer_lost'], readsAtOnce: true };
  const worlds = explore(4, weather, (world) => {
    assertNoExcess(world);
    assertDelivered(world);
    assertOwnVideos(world);
  });
  assert.ok(worlds > 1_000);
});

test('of up to four takes at once, none is charged for a video that nobody gets, if requests and answers are lost', () => {
  const weather: Weather = { maxAttempts: 3, fates: ['answered', 'answer_lost', 'lost'], readsAtOnce: true };
  explore(3, weather, assertDelivered);
  explore(4, { ...weather, maxAttempts: 2 }, assertDelivered);
});

let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  const violations = await auditLedger(database.db);
  await database.close();
  assert.deepEqual(violations, []);
});

const price = 132;
const credits = 100 * price;

/** Any four takes, with up to four attempts each: the numbers choose among the steps that can follow. */
const choices = fc.array(fc.nat(), { minLength: 1, maxLength: 24 });

test('the service decides as the rule does, and charges as many tasks', async () => {
  const accept = createTaskAcceptor(database.db);
  await fc.assert(
    fc.asyncProperty(choices, async (drawn) => {
      const accountId = await createAccount(database.db, { name: 'takes', credits });
      const created = await createKeyUnchecked(database.db, { accountId, name: 'a', scopes: ['tasks:write'] });
      assert.ok(created);
      const by = { kind: 'key', keyId: created.keyId } as const;
      const ids: string[] = [];
      let world = newWorld(4);
      for (const choice of drawn) {
        const steps = nextSteps(world, { ...everything, maxAttempts: 4 });
        const step: Step | undefined = steps[choice % steps.length];
        if (step === undefined) break;
        const number = arrivingNumber(world, step);
        const next = after(world, step);
        const read = step.kind === 'read' ? ids[world.takes[step.take]?.task ?? -1] : undefined;
        if (read !== undefined) await recordTasksSeen(database.db, [read], by.keyId);
        if (number !== undefined) {
          const more = { ...requestOf(taskParam('take')), ...listedTerms, attempt: number, repeatWindowMs: 3_600_000 };
          const answer = await accept({ taskId: uuidv7(), accountId, by, ...more });
          assert.ok(answer.kind === 'accepted' || answer.kind === 'replayed', answer.kind);
          if (answer.kind === 'accepted') ids.push(answer.taskId);
          const expected = next.tasks.findIndex(({ numbers }, index) => numbers !== world.tasks[index]?.numbers);
          assert.equal(ids.indexOf(answer.taskId), expected, JSON.stringify({ world, step }));
        }
        world = next;
      }
      assertNoExcess(world);
      assert.equal((await findAccount(database.db, accountId))?.balance, credits - world.tasks.length * price);
    }),
    runs(160),
  );
});
