import type { Database } from '../src/stores/database.ts';
import { addFinishedTasks, addUnfinishedTasks } from './finished-tasks.ts';
import type { BenchAccount } from './service.ts';

export type Growth = {
  /** How the database differs from the first step, for the end of a row's name. */
  readonly what: string;
  /** Answers ids of finished tasks that can be read. */
  readonly grow: () => Promise<readonly string[]>;
};

/** What the database holds, from little to much, in steps: finished tasks of one account, unfinished ones of many. */
export function growth(
  db: Database,
  { reader, owners, quick }: { reader: BenchAccount; owners: readonly BenchAccount[]; quick: boolean },
): readonly Growth[] {
  const few = 2_000;
  const [more, most, unfinished] = quick ? [4_000, 14_000, 1_000] : [18_000, 180_000, 10_000];
  const finish = (count: number) => addFinishedTasks(db, [reader.accountId], count);
  const timesMore = (count: number) => `, ${((few + count) / few).toFixed(0)} times the tasks and ledger entries`;
  const addUnfinished = async () => {
    const accountIds = owners.map(({ accountId }) => accountId);
    await addUnfinishedTasks(db, accountIds, unfinished);
    return finish(few);
  };
  return [
    { what: '', grow: () => finish(few) },
    { what: timesMore(more), grow: () => finish(more) },
    { what: timesMore(more + most), grow: () => finish(most) },
    { what: `, the same and ${unfinished.toLocaleString('en')} unfinished tasks`, grow: addUnfinished },
  ];
}
