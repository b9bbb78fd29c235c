import { LRUCache } from 'lru-cache';
import { validate as isUuid } from 'uuid';
import { createSessionAuthentication, type SessionDeps } from '../sign-in/authenticate-session.ts';
import type { Context } from './request-context-and-responses.ts';
import type { ClientIdentity, Operation, WithClock } from './endpoint-spec.ts';
import { HttpError } from './http-error.ts';
import type { Caller } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import { type Account, findAccount } from '../../accounts/accounts.ts';
import type { KeyTouches } from '../../accounts/keys/key-touches.ts';
import { createCallerAndTaskFinder } from '../../tasks/find-caller-and-task.ts';
import { hashApiKey } from '../../accounts/keys/key-format.ts';
import type { Database } from '../../platform/database/database.ts';
import { findAndTouchOperatorByKey } from '../../accounts/operators/operator-keys.ts';
import { findTask } from '../../tasks/task-rows.ts';
import type { BadKeyLimiter } from './limits/rate-limits.ts';

const maxCachedCallers = 10_000;
/**
 * Only creates, and the first check of MCP, use the cached caller. After this time they read the key from the database again, which also
 * records its use; all other requests read it each time.
 */
export const callerCacheMs = 30_000;

export type Authentication = ReturnType<typeof createAuthentication>;

export type AuthenticationDeps = WithClock &
  SessionDeps & { readonly badKeys: BadKeyLimiter; readonly keyTouches: KeyTouches };

/** Finds the caller. Every missing, malformed, unknown, revoked or expired key gets the same response. */
export function createAuthentication({ db, badKeys, keyTouches, console, now }: AuthenticationDeps) {
  const findCaller = createCallerAndTaskFinder(db);
  const callers = new LRUCache<string, Caller>({
    max: maxCachedCallers,
    ttl: callerCacheMs,
    ttlResolution: 0,
    perf: { now },
  });
  const people = createSessionAuthentication({ db, console });

  /** Looks up the key of the request. A key that was found lately needs no room; every other one may count against its client's address. */
  async function find<Found>(
    ctx: Context,
    lookUp: (key: string, hash: string) => Promise<Found | undefined>,
  ): Promise<Found> {
    const key = requireBearerToken(ctx);
    const hash = hashOf(key);
    let found = badKeys.isGood(hash) ? await lookUp(key, hash) : undefined;
    if (found === undefined) {
      const attempt = await badKeys.startLookup(ctx, hash);
      try {
        found = await lookUp(key, hash);
        if (found === undefined) attempt.fail();
        else badKeys.addGood(hash);
      } finally {
        attempt.end();
      }
    } else badKeys.addGood(hash);
    if (found !== undefined) return found;
    callers.delete(hash);
    throw new HttpError('unauthorized');
  }

  /** Authenticates an API key. `taskId`: the UUID of a task, which is returned if the caller owns it. */
  async function identifyKey(ctx: Context, taskId?: string): Promise<ClientIdentity> {
    const { caller, task } = await find(ctx, async (key, hash) => {
      const found = await findCaller(key, taskId);
      if (found === undefined) return undefined;
      callers.set(hash, found.caller);
      if (found.caller.useIsStale) keyTouches.add(found.caller.by.keyId);
      recordCaller(ctx, found.caller);
      return found;
    });
    return identityOf(ctx, caller, task);
  }

  return {
    people,
    identifyKey,
    /** Authenticates a client, by an API key or as a person in the console, and reads the task of an operation that has one. */
    identify: async (ctx: Context, operation: Pick<Operation, 'readsTask' | 'changesNothing'>) => {
      const taskId = operation.readsTask === true ? taskIdOf(ctx) : undefined;
      if (!people.isFromConsole(ctx)) return identifyKey(ctx, taskId);
      // People are never cached: a session may end, and a role change, at any time.
      const caller = await people.caller(ctx, operation);
      const task = taskId === undefined ? undefined : await findTask(db, taskId);
      return identityOf(ctx, caller, task?.accountId === caller.accountId ? task : undefined);
    },
    /**
     * Returns the caller from memory; undefined if the key was not used recently. Account, scopes and dialect of a key never change. The
     * statement that accepts a task checks that the key is active and the account is not suspended; `suspended` is false here, because a
     * suspension may have ended.
     */
    cachedIdentity: (ctx: Context): ClientIdentity | undefined => {
      const caller = callers.get(hashOf(bearerToken(ctx.get('Authorization')) ?? ''));
      if (caller === undefined) return undefined;
      recordCaller(ctx, caller);
      return identityOf(ctx, { ...caller, suspended: false });
    },
    /** Authenticates an operator, and returns the actor that the audit log records. */
    operator: async (ctx: Context): Promise<Actor> => {
      const operator = await find(ctx, (key) => findAndTouchOperatorByKey(db, key));
      ctx.state.operatorId = operator.operatorId;
      return { kind: 'operator', ...operator, requestId: ctx.state.requestId };
    },
  };
}

function taskIdOf({ querystring }: Context): string | undefined {
  const taskId = new URLSearchParams(querystring).get('taskId');
  return taskId !== null && isUuid(taskId) ? taskId : undefined;
}

function identityOf(ctx: Context, caller: Caller, task?: Task): ClientIdentity {
  // The header lets tools that speak only our own dialect use any key.
  const isNative = ctx.get('Videogen-Dialect') === 'native';
  return { caller, dialect: isNative ? 'native' : caller.dialect, task };
}

function recordCaller({ state }: Context, { accountId, by }: Caller): void {
  state.accountId = accountId;
  if (by.kind === 'key') state.keyId = by.keyId;
}

/** Plain keys are not stored in memory, where a core dump would show them. */
function hashOf(key: string): string {
  return hashApiKey(key).toString('base64');
}

function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}

/** Returns the key of the request. A client that sends it in another way gets an error that explains the expected header. */
function requireBearerToken(ctx: Context): string {
  const header = ctx.get('Authorization');
  const key = bearerToken(header);
  if (key !== undefined) return key;
  const isElsewhere = header === '' && ctx.get('X-API-Key') !== '';
  const isBare = /^(?:(?!bearer)\S+ +)?vg(?:op)?_\S+$/i.test(header);
  if (!isElsewhere && !isBare) throw new HttpError('unauthorized');
  const problem = isElsewhere ? 'was sent as X-API-Key' : 'was sent without the scheme Bearer';
  const msg = `the API key ${problem}; send it as Authorization: Bearer <API_KEY>`;
  throw new HttpError('unauthorized', { msg });
}

/** Returns the caller's task. Another account's task is refused like an unknown id, so that a client cannot probe for ids. */
export async function requireOwnTask(db: Database, taskId: string, accountId: string): Promise<Task> {
  const task = isUuid(taskId) ? await findTask(db, taskId) : undefined;
  if (task === undefined || task.accountId !== accountId) throw new HttpError('task_not_found');
  return task;
}

export async function readAccountOfCaller(db: Database, { accountId }: Caller): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (account === undefined) throw new Error('the account of a key does not exist');
  return account;
}
