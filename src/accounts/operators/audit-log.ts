import type { Actor, OperatorAction } from './actors-and-actions.ts';
import { type Database, databaseJoiningTransaction } from '../../platform/database/database.ts';
import { many, noRows } from '../../platform/database/declare-statements.ts';

export type DoneAction = {
  readonly action: OperatorAction;
  readonly accountId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly keyId?: string | undefined;
  /** Old and new values, amounts and the reason; never a secret. */
  readonly details: Readonly<Record<string, unknown>>;
};

/** The result of a change. Without `done` nothing was changed, and nothing is recorded. */
export type AnswerWithAction<Answer> = { readonly answer: Answer; readonly done?: DoneAction | undefined };

/** Makes an operator's change and records it in the audit log, in one transaction. `change` must not use the network. */
export function changeWithAudit<Answer>(
  db: Database,
  actor: Actor,
  change: (transaction: Database) => Promise<AnswerWithAction<Answer>>,
): Promise<Answer> {
  return db.transaction(async (run) => {
    const { answer, done } = await change(databaseJoiningTransaction({ run }));
    if (done !== undefined) await recordOperatorAction({ run }, actor, done);
    return answer;
  });
}

/** Records an action in a transaction of the caller. `changeWithAudit` cannot serve changes that create their own actor. */
export const recordOperatorAction = noRows<[actor: Actor, done: DoneAction]>({
  name: 'record-operator-action',
  text: `
insert into operator_actions (operator_id, user_id, actor, request_id, action, account_id, task_id, key_id, details)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
  values: (actor, { action, accountId, taskId, keyId, details }) => {
    const operatorId = actor.kind === 'operator' ? actor.operatorId : undefined;
    const userId = actor.kind === 'user' ? actor.userId : undefined;
    const requestId = actor.kind === 'command_line' ? undefined : actor.requestId;
    return [operatorId, userId, actor.name, requestId, action, accountId, taskId, keyId, JSON.stringify(details)];
  },
});

/** Times are Unix milliseconds. */
export type RecordedAction = DoneAction & {
  readonly accountName: string | undefined;
  readonly actionId: number;
  readonly actor: Actor;
  readonly createdAt: number;
};

export type AuditLogFilter = {
  readonly accountId?: string | undefined;
  readonly operatorId?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** Lists the audit log, newest first. */
export const listOperatorActions = many<RecordedAction, [filter: AuditLogFilter]>({
  name: 'list-operator-actions',
  plannedAnew: true,
  text: `
select id as "actionId", action, account_id as "accountId",
  (select name from accounts where id = account_id) as "accountName", task_id as "taskId", key_id as "keyId", details,
  created_at as "createdAt", case
    when user_id is not null
      then json_build_object('kind', 'user', 'userId', user_id, 'name', actor, 'requestId', coalesce(request_id, ''))
    when operator_id is not null
      then json_build_object('kind', 'operator', 'operatorId', operator_id, 'name', actor, 'requestId', coalesce(request_id, ''))
    else json_build_object('kind', 'command_line', 'name', actor) end as actor
from operator_actions
where ($1::uuid is null or account_id = $1) and ($2::uuid is null or operator_id = $2) and id < $3
order by id desc limit $4`,
  values: ({ accountId, operatorId, before: id = Number.MAX_SAFE_INTEGER, limit }) => [
    accountId,
    operatorId,
    id,
    limit,
  ],
});
