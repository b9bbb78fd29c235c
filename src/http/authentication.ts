import { LRUCache } from 'lru-cache';
import { validate as isUuid } from 'uuid';
import { createSessionAuthentication } from './console/authenticate-session.ts';
import type { Context } from './context.ts';
import { HttpError } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { hashOf } from './limits/rate-limits.ts';
import type { Caller } from '../domain/api-key.ts';
import type { Actor } from '../domain/operator.ts';
import type { Task } from '../domain/task.ts';
import { type Account, findAccount } from '../stores/accounts.ts';
import { type CallerWithTask, createCallerFinder, touchKeys } from '../stores/callers.ts';
import type { Database } from '../stores/database.ts';
import { findOperator } from '../stores/operators.ts';
import { findTask } from '../stores/tasks.ts';

const maxCachedCallers = 10_000;
/** Afterwards the key is read again, which also records its use. */
const cachedForMs = 30_000;

export type Authentication = ReturnType<typeof createAuthentication>;

/** Finds who calls by the key. A malformed, unknown, revoked or expired key and none get one and the same answer. */
export function createAuthentication({
  db,
  badKeys,
  touchKey,
  console,
  now = () => performance.now(),
}: Pick<HttpDeps, 'db' | 'badKeys' | 'touchKey' | 'console' | 'now'>) {
  const findCaller = createCallerFinder(db);
  const callers = new LRUCache<string, Caller>({
    max: maxCachedCallers,
    ttl: cachedForMs,
    ttlResolution: 0,
    perf: { now },
  });

  async function find<Found>(ctx: Context, lookUp: (key: string) => Promise<Found | undefined>): Promise<Found> {
    const key = requireBearerToken(ctx);
    const hash = hashOf(key);
    badKeys.refuse(ctx, hash);
    const found = await lookUp(key);
    badKeys.record(ctx, hash, found !== undefined);
    if (found !== undefined) return found;
    callers.delete(hash);
    throw new HttpError('unauthorized');
  }

  return {
    /** People in the console, by their sessions. */
    people: createSessionAuthentication({ db, console }),
    /** The caller by an API key, and the task with this id if it is the caller's own. */
    client: async (ctx: Context, taskId: string | null): Promise<CallerWithTask> => {
      const wanted = taskId !== null && isUuid(taskId) ? taskId : undefined;
      const found = await find(ctx, (key) => findCaller(key, wanted));
      const { caller } = found;
      callers.set(hashedKey(ctx), caller);
      if (caller.useIsStale) touchKey(caller.by.keyId);
      ctx.state.accountId = caller.accountId;
      return found;
    },
    /**
     * A caller of the last half minute: account, scopes and dialect of a key never change. The statement that accepts a task checks
     * that the key is active and the account not suspended; `suspended` is false here, because a suspension may have ended.
     */
    cachedCaller: (ctx: Context): Caller | undefined => {
      const caller = callers.get(hashedKey(ctx));
      if (caller === undefined) return undefined;
      ctx.state.accountId = caller.accountId;
      return { ...caller, suspended: false };
    },
    /** The operator by an operator's key, as the audit log names it. */
    operator: async (ctx: Context): Promise<Actor> => {
      const operator = await find(ctx, (key) => findOperator(db, key));
      ctx.state.operatorId = operator.operatorId;
      return { kind: 'operator', ...operator, requestId: ctx.state.requestId };
    },
  };
}

function hashedKey(ctx: Context): string {
  return hashOf(bearerToken(ctx.get('Authorization')) ?? '');
}

/** The key of an `Authorization` header; undefined without one. */
function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}

/** The key of a request. A client that sends it in another way is told how to send it. */
function requireBearerToken(ctx: Context): string {
  const header = ctx.get('Authorization');
  const key = bearerToken(header);
  if (key !== undefined) return key;
  const isElsewhere = header === '' && ctx.get('X-API-Key') !== '';
  const isBare = /^(?:(?!bearer)\S+ +)?vg(?:op)?_\S+$/i.test(header);
  if (!isElsewhere && !isBare) throw new HttpError('unauthorized');
  const fault = isElsewhere ? 'expected in another header than X-API-Key' : 'sent without the scheme Bearer';
  const msg = `the API key is ${fault}; send it as Authorization: Bearer <API_KEY>`;
  throw new HttpError('unauthorized', { msg });
}

/** The caller's task. Another account's task, none, and what is no id of ours are the same to it. */
export async function ownTask(db: Database, taskId: string, accountId: string): Promise<Task> {
  const task = isUuid(taskId) ? await findTask(db, taskId) : undefined;
  if (task === undefined || task.accountId !== accountId) throw new HttpError('task_not_found');
  return task;
}

/** The caller's account. */
export async function ownAccount(db: Database, { accountId }: Caller): Promise<Account> {
  const account = await findAccount(db, accountId);
  if (account === undefined) throw new Error('a key belongs to an account that does not exist');
  return account;
}

const touchDelayMs = 1_000;
/** Keys in one statement at most; a key beyond them is recorded at its next use. */
const maxTouches = 10_000;

/** Records when keys were last used, in batches and after the answers. */
export function createKeyTouches(db: Database, delayMs = touchDelayMs) {
  const used = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** Records what is left; never rejects. */
  async function drain(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const keyIds = [...used];
    used.clear();
    // A use that is not recorded is recorded at the next one.
    if (keyIds.length > 0) await touchKeys(db, keyIds).catch(() => {});
  }
  return {
    /** Takes a key whose last recorded use is older than a minute; never waits and never throws. */
    add: (keyId: string): void => {
      if (used.size < maxTouches) used.add(keyId);
      timer ??= setTimeout(() => void drain(), delayMs).unref();
    },
    drain,
  };
}
