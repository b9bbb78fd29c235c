import type { FailCode, Task, TaskParam, TaskResult, TaskState } from '../domain/task.ts';

/** A row of `tasks` as PostgreSQL answers it; times are Unix milliseconds. */
export type TaskRow = {
  id: string;
  account_id: string;
  param: TaskParam;
  state: TaskState;
  credits_charged: number;
  credits_refunded: number;
  fail_code: FailCode | null;
  fail_msg: string | null;
  result: TaskResult | null;
  created_at: number;
  updated_at: number;
  generation_started_at: number | null;
  completed_at: number | null;
  media_deleted_at: number | null;
};

/** The columns a task is made from. */
export const taskColumns = `id, account_id, param, state, credits_charged, credits_refunded, fail_code, fail_msg, result,
  created_at, updated_at, generation_started_at, completed_at, media_deleted_at`;

export function taskFromRow(row: TaskRow): Task {
  return {
    taskId: row.id,
    accountId: row.account_id,
    param: row.param,
    state: row.state,
    creditsCharged: row.credits_charged,
    creditsRefunded: row.credits_refunded,
    failure:
      row.fail_code === null || row.fail_msg === null ? undefined : { failCode: row.fail_code, failMsg: row.fail_msg },
    result: row.result ?? undefined,
    mediaDeletedAt: row.media_deleted_at ?? undefined,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    generationStartedAt: row.generation_started_at ?? undefined,
    completedAt: row.completed_at ?? undefined,
  };
}
