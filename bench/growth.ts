import type { Database } from '../src/stores/database.ts';
import { addFinishedTasks, addUnfinishedTasks } from './finished-tasks.ts';
import type { BenchAccount } from './service.ts';

export type Growth = {
  /** How the database differs from the first step, for the end of a row's name. */
  readonly what: string;
  /** Answers ids of finished tasks that can be read. */
  readonly grow: () => Promise<readonly string[]>;
};

type Grown = { readonly reader: BenchAccount; readonly owners: readonly BenchAccount[]; readonly quick: boolean };

const few = 2_000;

/** What the database holds, from little to much, in steps: finished tasks of one account, unfinished ones of many. */
export function growth(db: Database, { reader, owners, quick }: Grown): readonly Growth[] {
  const unfinished = quick ? 1_000 : 10_000;
  const addUnfinished = async () => {
    const accountIds = owners.map(({ accountId }) => accountId);
    await addUnfinishedTasks(db, accountIds, unfinished);
    return addFinishedTasks(db, [reader.accountId], few);
  };
  return [
    ...fewToMany(db, reader, quick ? [1, 3, 10] : [1, 10, 100]),
    { what: `, the same and ${unfinished.toLocaleString('en')} unfinished tasks`, grow: addUnfinished },
  ];
}

/** From little to much in one step, which is soon done. */
export function growthAtOnce(db: Database, { reader, quick }: Grown): readonly Growth[] {
  return fewToMany(db, reader, quick ? [1, 10] : [1, 100]);
}

function fewToMany(db: Database, { accountId }: BenchAccount, multiples: readonly number[]): readonly Growth[] {
  return multiples.map((multiple, index) => ({
    what: multiple === 1 ? '' : `, ${multiple} times the tasks and ledger entries`,
    grow: () => addFinishedTasks(db, [accountId], few * (multiple - (multiples[index - 1] ?? 0))),
  }));
}
