import type { Bench } from '../bench.ts';
import { growth, growthAtOnce } from '../growth.ts';
import { type HttpFloor, startHttpFloor } from '../http-floor.ts';
import type { Load } from '../load.ts';
import type { Row } from '../row.ts';
import { type BenchAccount, benchAccounts, type BenchService, benchService } from '../service.ts';
import { createTaskAgainRow, createTaskRows, quietCreates, taskBody } from './create-task.ts';
import { recordInfoRow } from './record-info.ts';

/** Accounts; with a few dozen their table is one page, which no index can help. */
const spreadOver = 1_000;

type Measured = {
  readonly bench: Bench;
  readonly service: BenchService;
  readonly floor: HttpFloor;
  readonly accounts: readonly BenchAccount[];
  readonly reader: BenchAccount;
};

/** createTask and recordInfo beside their floors, and again with a hundred times the tasks. */
export function httpRows(bench: Bench): Promise<readonly Row[]> {
  return withHttp(bench, async (measured) => {
    const { service, floor, accounts } = measured;
    const creates = await createTaskRows(bench, service, floor, accounts);
    return [...creates.rows, ...(await grownRows(measured, growthAtOnce, creates.quietLoad))];
  });
}

/** What both cost as the database grows step by step. */
export function growthRows(bench: Bench): Promise<readonly Row[]> {
  return withHttp(bench, async (measured) => {
    const before = await quietCreates(bench, measured.service, measured.accounts);
    return grownRows(measured, growth, before);
  });
}

async function withHttp(bench: Bench, work: (measured: Measured) => Promise<readonly Row[]>): Promise<readonly Row[]> {
  const service = await benchService(bench, bench.temporal.address);
  const floor = await startHttpFloor(bench, taskBody);
  const accounts = await benchAccounts(service.db, spreadOver);
  const [reader] = await benchAccounts(service.db, 1);
  if (reader === undefined) throw new Error('no account');
  try {
    return await work({ bench, service, floor, accounts, reader });
  } finally {
    await Promise.all([service.close(), floor.close()]);
  }
}

async function grownRows(
  { bench, service, floor, accounts, reader }: Measured,
  steps: typeof growth,
  creates: Load,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let before: Load | undefined;
  for (const { what, grow } of steps(service.db, { reader, owners: accounts, quick: bench.quick })) {
    const ids = await grow();
    const reading = { account: reader, ids, what: `recordInfo of finished tasks, 32 callers${what}` };
    const { row, load } = await recordInfoRow(bench, service, floor, { ...reading, ...(before && { before }) });
    rows.push(row);
    if (before !== undefined) {
      const again = { what: `createTask, 32 callers${what}`, before: creates };
      rows.push(await createTaskAgainRow(bench, service, accounts, again));
    }
    before ??= load;
  }
  return rows;
}
