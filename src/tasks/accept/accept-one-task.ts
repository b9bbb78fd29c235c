import type { TaskState } from '../../catalogue/tasks/task.ts';
import {
  acceptBatch,
  acceptCappedTaskStatement,
  acceptedFromRow,
  acceptStatementValues,
  type AnswerRow,
  rateFromRow,
  refusalReasonStatement,
  refusalReasonStatementValues,
  isLostRace,
  type RateRow,
} from './accept-statement.ts';
import { addSpendingToCaps, findAndMarkExceededCap, type TaskSpending } from '../../accounts/limits/spend-caps.ts';
import { withAccountLock } from './account-lock.ts';
import type { CreateOutcome, Accepted, NewTask } from './acceptance-contract.ts';
import { type Database, DatabaseBusyError } from '../../platform/database/database.ts';

const maxTries = 5;

/**
 * Accepts one task alone: reads whether it can be accepted, then writes its price, charge, row and ledger entry in one statement, whose
 * commit is the acceptance. Both are repeated if another request was faster. Only `accepted` means a charge. A repeated call with the
 * same `taskId` returns `replayed`.
 */
export async function acceptTaskAlone(db: Transactions, task: NewTask): Promise<CreateOutcome> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const foreseen = await explain(db, task);
    if (foreseen.kind !== 'acceptable') return foreseen;
    if (foreseen.isCapped) return acceptCapped(db, task);
    const accepted = await acceptAlone(db, task);
    if (accepted !== undefined) return accepted;
  }
  throw new DatabaseBusyError(`task ${task.taskId} was neither accepted nor refused in ${maxTries} tries`);
}

type Transactions = Pick<Database, 'run' | 'transaction' | 'runExclusive'>;

/** Accepts a task of an account with caps. The lock on the account makes its creates wait for each other, so that caps are exact. */
function acceptCapped(db: Transactions, task: NewTask): Promise<CreateOutcome> {
  const { accountId, by } = task;
  const keyId = by?.kind === 'key' ? by.keyId : undefined;
  const userId = by?.kind === 'person' ? by.userId : undefined;
  return withAccountLock(db, accountId, async ({ run }) => {
    const foreseen = await explain({ run }, task);
    if (foreseen.kind !== 'acceptable') return foreseen;
    const { credits } = foreseen;
    const spending: TaskSpending = { accountId, keyId, userId, credits };
    const cap = await findAndMarkExceededCap({ run }, spending);
    if (cap !== undefined) return { kind: 'spend_cap_reached', required: credits, cap };
    const [row] = await run<AnswerRow>(acceptCappedTaskStatement, acceptStatementValues([task]));
    if (row !== undefined && row.refusal !== null) {
      // The lock does not stop what else can refuse a task, such as the revocation of its key.
      const again = await explain({ run }, task);
      if (again.kind !== 'acceptable') return again;
    }
    if (row === undefined || row.refusal !== null || row.credits !== credits) {
      throw new Error(`task ${task.taskId} was not accepted as it was foreseen under the account's lock`);
    }
    await addSpendingToCaps({ run }, spending);
    return acceptedFromRow(task, row);
  });
}

async function acceptAlone(db: Transactions, task: NewTask): Promise<Accepted | undefined> {
  try {
    const [answer] = await db.runExclusive(task.accountId, () => acceptBatch(db, [task], { waits: true }));
    return typeof answer === 'string' ? undefined : answer;
  } catch (error) {
    if (isLostRace(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the outcome of a create that needs no charge: it repeats an accepted one, or is refused. Undefined if the task can be accepted
 * now; spend caps are not considered, because they are exact only under the account's lock. Takes no lock and changes nothing.
 */
export async function findRefusalOrReplay(
  db: Pick<Database, 'run'>,
  task: NewTask,
): Promise<CreateOutcome | undefined> {
  const foreseen = await explain(db, task);
  return foreseen.kind === 'acceptable' ? undefined : foreseen;
}

type EarlierRow = {
  task_id: string;
  credits_charged: number;
  request_sha256: Buffer;
  state: TaskState;
  content_deleted_at: number | null;
};
type ExplainedRow = RateRow & { balance: number; max_unfinished_tasks: number } & (
    | { refusal: null; credits: number; capped: boolean }
    | { refusal: 'no_price' | 'too_many_unfinished_tasks' | 'too_fast' }
    | { refusal: 'key_inactive' | 'account_suspended' | 'account_not_found' }
    | { refusal: 'insufficient_credits'; credits: number }
    | ({ refusal: 'known' } & EarlierRow)
  );

type Acceptable = { readonly kind: 'acceptable'; readonly credits: number; readonly isCapped: boolean };

/** Returns whether a task can be accepted now, or why not. `isCapped`: its account has spend caps, which `acceptCapped` checks. */
async function explain(db: Pick<Database, 'run'>, task: NewTask): Promise<Acceptable | CreateOutcome> {
  const [row] = await db.run<ExplainedRow>(refusalReasonStatement, refusalReasonStatementValues(task));
  if (row === undefined) throw new Error(`${refusalReasonStatement.name} returned no row`);
  if (row.refusal === null) return { kind: 'acceptable', credits: row.credits, isCapped: row.capped };
  return refusalOf(task, row);
}

function refusalOf(task: NewTask, row: Exclude<ExplainedRow, { refusal: null }>): CreateOutcome {
  switch (row.refusal) {
    case 'known':
      return earlierAcceptance(task, row);
    case 'insufficient_credits':
      return { kind: row.refusal, required: row.credits, balance: row.balance };
    case 'too_many_unfinished_tasks':
      return { kind: row.refusal, limit: row.max_unfinished_tasks };
    case 'too_fast': {
      const rate = rateFromRow(row);
      if (rate === undefined) throw new Error(`account ${task.accountId} is too fast without a rate`);
      return { kind: row.refusal, rate };
    }
    case 'no_price':
      throw new Error(`no price of ${task.param.model} is in force, not even in the catalogue`);
    case 'key_inactive':
    case 'account_suspended':
    case 'account_not_found':
    default:
      return { kind: row.refusal };
  }
}

function earlierAcceptance({ requestSha256 }: NewTask, row: EarlierRow): CreateOutcome {
  if (row.content_deleted_at !== null) return { kind: 'content_deleted' };
  if (!row.request_sha256.equals(requestSha256)) return { kind: 'key_reused' };
  return { kind: 'replayed', taskId: row.task_id, creditsCharged: row.credits_charged, state: row.state };
}
