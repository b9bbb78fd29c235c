import type { Task } from '../../domain/task.ts';
import { type FoundCaller, findCaller } from '../../stores/api-keys.ts';
import { findCallerWithTask } from '../../stores/caller-with-task.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { isTaskId } from '../own-task.ts';
import type { Context, Step, WithCaller } from '../request-state.ts';

type Deps = Pick<HttpDeps, 'db' | 'noteKeyUse' | 'badKeys'>;

/** Finds the caller by the API key. A malformed, unknown, revoked or expired key and none get one and the same answer. */
export function authenticate(deps: Deps): Step<WithCaller> {
  return authenticateBy(deps, (_ctx, key) => findCaller(deps.db, key));
}

/** What `authenticateWithTask` adds: the task that the query names; undefined when the caller has none of that id. */
export type WithTask = { task: Task | undefined };

/** As `authenticate`, and reads the task of the query's `taskId` in the same statement, for what is polled. */
export function authenticateWithTask(deps: Deps): Step<WithCaller & WithTask> {
  return authenticateBy<WithTask>(deps, async (ctx, key) => {
    const taskId = new URLSearchParams(ctx.querystring).get('taskId') ?? '';
    const found = await findCallerWithTask(deps.db, key, isTaskId(taskId) ? taskId : undefined);
    ctx.state.task = found?.task;
    return found?.caller;
  });
}

type Find<Added> = (ctx: Context<WithCaller & Added>, key: string) => Promise<FoundCaller | undefined>;

function authenticateBy<Added>({ noteKeyUse, badKeys }: Deps, find: Find<Added>): Step<WithCaller & Added> {
  return async (ctx, next) => {
    const key = bearerToken(ctx.get('Authorization'));
    if (key === undefined) throw new HttpFailure('unauthorized');
    badKeys.refuse(ctx.req, key);
    const caller = await find(ctx, key);
    badKeys.note(ctx.req, key, caller !== undefined);
    if (caller === undefined) throw new HttpFailure('unauthorized');
    if (caller.useIsStale) noteKeyUse(caller.keyId);
    ctx.state.caller = caller;
    ctx.state.accountId = caller.accountId;
    await next();
  };
}

/** The scheme's case does not count (RFC 9110, section 11.1). */
function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}
