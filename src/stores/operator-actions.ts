import type { Actor, OperatorAction } from '../domain/operator.ts';
import type { Database, Statement } from './database.ts';

/** What an operator has done, for the audit log. */
export type Done = {
  readonly action: OperatorAction;
  readonly accountId?: string;
  readonly taskId?: string;
  /** The id of a client's key. */
  readonly keyId?: string;
  /** Old and new values, amounts, the reason; never a secret. */
  readonly details: Readonly<Record<string, unknown>>;
};

/** What a change answers; without `done` it has changed nothing, and nothing is written down. */
export type Change<Answer> = { readonly answer: Answer; readonly done?: Done | undefined };

/**
 * Makes an operator's change and writes it into the audit log in one transaction: both or neither. `change` must use the
 * database that it is given, and must not touch the network.
 */
export function recordAction<Answer>(
  db: Database,
  actor: Actor,
  change: (transaction: Database) => Promise<Change<Answer>>,
): Promise<Answer> {
  return db.transaction(async (run) => {
    // Stores that open a transaction of their own take part in this one.
    const transaction: Database = { run, transaction: (work) => work(run), close: () => Promise.resolve() };
    const { answer, done } = await change(transaction);
    if (done !== undefined) await run(insertAction, actionValues(actor, done));
    return answer;
  });
}

const insertAction = {
  name: 'record-operator-action',
  text: `
insert into operator_actions (operator_id, actor, request_id, action, account_id, task_id, key_id, details)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
};

function actionValues(actor: Actor, { action, accountId, taskId, keyId, details }: Done): unknown[] {
  const isOperator = actor.kind === 'operator';
  const who = [isOperator ? actor.operatorId : undefined, actor.name, isOperator ? actor.requestId : undefined];
  return [...who, action, accountId, taskId, keyId, JSON.stringify(details)];
}

/** An entry of the audit log. Times are Unix milliseconds. */
export type RecordedAction = Done & {
  readonly actionId: number;
  readonly actor: Actor;
  readonly createdAt: number;
};

export type ActionFilter = {
  readonly accountId?: string | undefined;
  readonly operatorId?: string | undefined;
  /** The last entry of the page before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
};

/** What operators have done, newest first, at most `limit`. */
export async function listActions(db: Database, filter: ActionFilter): Promise<readonly RecordedAction[]> {
  const { accountId, operatorId, before = Number.MAX_SAFE_INTEGER, limit } = filter;
  const statement =
    selectActions[accountId !== undefined ? 'byAccount' : operatorId !== undefined ? 'byOperator' : 'all'];
  const rows = await db.run<ActionRow>(statement, [accountId, operatorId, before, limit]);
  return rows.map(actionFromRow);
}

function listStatement(name: string, condition: string): Statement {
  return {
    name: `list-operator-actions-${name}`,
    text: `
select id, operator_id, actor, request_id, action, account_id, task_id, key_id, details, created_at
from operator_actions where ${condition} and id < $3 order by id desc limit $4`,
  };
}

const selectActions = {
  all: listStatement('all', '$1::uuid is null and $2::uuid is null'),
  byAccount: listStatement('by-account', 'account_id = $1 and ($2::uuid is null or operator_id = $2)'),
  byOperator: listStatement('by-operator', '$1::uuid is null and operator_id = $2'),
};

type ActionRow = {
  id: number;
  operator_id: string | null;
  actor: string;
  request_id: string | null;
  action: OperatorAction;
  account_id: string | null;
  task_id: string | null;
  key_id: string | null;
  details: Readonly<Record<string, unknown>>;
  created_at: number;
};

function actionFromRow(row: ActionRow): RecordedAction {
  return {
    actionId: row.id,
    actor: actorFromRow(row),
    action: row.action,
    ...(row.account_id !== null && { accountId: row.account_id }),
    ...(row.task_id !== null && { taskId: row.task_id }),
    ...(row.key_id !== null && { keyId: row.key_id }),
    details: row.details,
    createdAt: row.created_at,
  };
}

function actorFromRow({ operator_id: operatorId, actor: name, request_id: requestId }: ActionRow): Actor {
  if (operatorId === null) return { kind: 'command_line', name };
  return { kind: 'operator', operatorId, name, requestId: requestId ?? '' };
}
