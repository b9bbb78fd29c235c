import type { Caller } from '../../domain/api-key.ts';
import type { Task } from '../../domain/task.ts';
import { createCallerFinder, type FoundCaller } from '../../stores/caller-with-task.ts';
import { requireBearerToken } from '../bearer-token.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { isTaskId } from '../own-task.ts';
import type { Context, Step, WithCaller } from '../request-state.ts';

type Deps = Pick<HttpDeps, 'db' | 'noteKeyUse' | 'badKeys'>;

/** Finds the caller by the API key. A malformed, unknown, revoked or expired key and none get one and the same answer. */
export function authenticate(deps: Deps): Step<WithCaller> {
  const find = createCallerFinder(deps.db);
  return authenticateBy(deps, async (_ctx, key) => (await find(key))?.caller);
}

/** What `authenticateWithTask` adds: the task that the query names; undefined when the caller has none of that id. */
export type WithTask = { task: Task | undefined };

/** As `authenticate`, and reads the task of the query's `taskId` in the same statement, for what is polled. */
export function authenticateWithTask(deps: Deps): Step<WithCaller & WithTask> {
  const findWithTask = createCallerFinder(deps.db);
  return authenticateBy<WithTask>(deps, async (ctx, key) => {
    const taskId = new URLSearchParams(ctx.querystring).get('taskId') ?? '';
    const found = await findWithTask(key, isTaskId(taskId) ? taskId : undefined);
    ctx.state.task = found?.task;
    return found?.caller;
  });
}

type Find<Added> = (ctx: Context<WithCaller & Added>, key: string) => Promise<FoundCaller | undefined>;

function authenticateBy<Added>({ noteKeyUse, badKeys }: Deps, find: Find<Added>): Step<WithCaller & Added> {
  return async (ctx, next) => {
    const key = requireBearerToken(ctx);
    badKeys.refuse(ctx.req, key);
    const caller = await find(ctx, key);
    badKeys.note(ctx.req, key, caller !== undefined);
    if (caller === undefined) throw new HttpFailure('unauthorized');
    if (caller.useIsStale) noteKeyUse(caller.keyId);
    setCaller(ctx, caller);
    await next();
  };
}

/** Makes the caller known to the steps below, and to the log. */
export function setCaller({ state }: Context<WithCaller>, caller: Caller): void {
  state.caller = caller;
  state.accountId = caller.accountId;
  state.dialect = caller.dialect;
}
