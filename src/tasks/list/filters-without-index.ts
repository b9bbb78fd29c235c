import type { TaskFilter } from './task-filter.ts';

// The console imports this file, so it imports only types.

type IsIndexed = Readonly<Record<keyof TaskFilter, boolean | ((filter: TaskFilter) => boolean)>>;

/**
 * Whether an index over all accounts finds the tasks of a filter. Without an account, the others read only tasks of a bounded time: the
 * bound, its description and the periods that the console offers are derived from this table.
 */
const isIndexed = {
  accountId: true,
  fromMs: true,
  toMs: true,
  state: true,
  failCodes: true,
  model: false,
  createdBy: false,
  provider: false,
  search: ({ search }: TaskFilter) => search?.taskId !== undefined,
} as const satisfies IsIndexed;

type IndexOf = typeof isIndexed;
type UnindexedFilter = { [Name in keyof IndexOf]: IndexOf[Name] extends true ? never : Name }[keyof IndexOf];

/** The filters that no index finds, or not with every value. */
export const filtersWithoutFullIndex = Object.entries(isIndexed)
  .filter(([, indexed]) => indexed !== true)
  .map(([name]) => name) as readonly UnindexedFilter[]; // those of the table that are not true

/** True for a filter that would read tasks of all times and accounts. */
export function readsAllTasks(filter: TaskFilter): boolean {
  return (
    filter.accountId === undefined &&
    filtersWithoutFullIndex.some((name) => filter[name] !== undefined && !isFound(name, filter))
  );
}

function isFound(name: keyof TaskFilter, filter: TaskFilter): boolean {
  const table: IsIndexed = isIndexed;
  const indexed = table[name];
  return typeof indexed === 'function' ? indexed(filter) : indexed;
}
