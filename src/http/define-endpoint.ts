import { Readable } from 'node:stream';
import { validate as isUuid } from 'uuid';
import type { z } from 'zod';
import { howToGetKieKey } from '../dialects/kie-request.ts';
import type { Caller } from '../domain/api-key.ts';
import type { Actor } from '../domain/operator.ts';
import { type FieldError, fieldPath, maxFieldErrors } from '../domain/field-errors.ts';
import { isPlainText, notPlainText } from '../domain/task-input.ts';
import type { Task } from '../domain/task.ts';
import type { Authentication } from './authentication.ts';
import { requireRecentProof } from './console/authenticate-session.ts';
import { requireOwnPage } from './console/same-origin.ts';
import { answer, answerText, type Context } from './context.ts';
import {
  type Access,
  type Call,
  type ClientIdentity,
  type EndpointSpec,
  failuresOf,
  type Identity,
  isForClients,
  isOfConsole,
  type Operation,
} from './endpoint.ts';
import { HttpError, invalidRequest, isRefusal } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { rateAnswerHeaders } from './limits/rate-headers.ts';
import { countedFor, limitReads, limitRefusals } from './limits/rate-limits.ts';
import { readJson } from './server/read-json.ts';
import { findTask } from '../stores/tasks.ts';

export type Endpoint = Operation & {
  /** Guards the request, runs the handler and answers; throws what refuses the request. */
  readonly serve: (ctx: Context, deps: HttpDeps, authentication: Authentication) => Promise<void>;
};

/** Makes an endpoint from its one declaration: its guards and its documentation. */
export function defineEndpoint<
  Data extends z.ZodType,
  const A extends Access = 'operator',
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>({ route, handler, failures = [], answerHeaders = {}, ...spec }: EndpointSpec<A, Query, Body, Data>): Endpoint {
  // Where no scope is named, 'operator' is what the compiler takes for `A`.
  const scope = (spec.scope ?? 'operator') as A;
  const described = { ...spec, scope, path: route.slice(route.indexOf('/')) };
  const operation: Operation = {
    ...described,
    method: route.startsWith('GET ') ? 'get' : 'post',
    failures: failuresOf(described, failures),
    answerHeaders: { ...(isForClients(scope) && rateAnswerHeaders), ...answerHeaders },
  };
  const { query, body, jsonBody } = spec;
  const takesBody = body !== undefined || jsonBody !== undefined;
  return {
    ...operation,
    serve: (ctx, deps, authentication) =>
      guard({ ctx, deps, authentication, operation }, async (identity) => {
        const json = takesBody ? await readJson(ctx) : {};
        const parsed = { query: query && parse(query, queryObject(ctx)), input: body && parse(body, json) };
        // The guard makes the identity of this scope, and without a schema nothing is parsed: the compiler cannot follow either.
        const call = { ...identity, ...parsed, json, ctx } as Call<A, Query, Body>;
        const data = await handler(call, deps);
        if (data instanceof Readable) answerText(ctx, data, operation.contentType);
        else answer(ctx, { code: 200, msg: 'success', data });
      }),
  };
}

type Request = {
  readonly ctx: Context;
  readonly deps: HttpDeps;
  readonly authentication: Authentication;
  readonly operation: Operation;
};

type Proceed = (identity: Identity<Access>) => Promise<void>;

/** Finds out who calls, and lets the request proceed or throws what refuses it. */
async function guard(request: Request, proceed: Proceed): Promise<void> {
  const { ctx, deps, operation } = request;
  const { scope } = operation;
  if (scope === 'none') {
    if (isOfConsole(operation.path)) requireOwnPage(ctx, deps.console.publicUrl);
    return proceed({});
  }
  if (scope === 'operator') return proceed({ actor: await operatorOf(request) });
  if (scope === 'session' || scope === 'member' || scope === 'owner') return proceed(await personOf(request, scope));
  if (operation.isCreate === true) return guardCreate(request, proceed);
  const identity = await findIdentity(request);
  limitReads(ctx, deps.reads, countedFor(identity.caller));
  authorize(operation, identity);
  return proceed(identity);
}

async function operatorOf({ ctx, authentication, operation }: Request): Promise<Actor> {
  if (!authentication.people.isFromConsole(ctx)) return authentication.operator(ctx);
  const { isRecent, ...actor } = await authentication.people.operator(ctx);
  if (operation.needsRecentProof === true) requireRecentProof({ isRecent });
  return actor;
}

async function personOf(
  { ctx, deps, authentication, operation }: Request,
  scope: 'session' | 'member' | 'owner',
): Promise<Identity<Access>> {
  const identity =
    scope === 'session'
      ? { session: await authentication.people.session(ctx) }
      : await authentication.people.member(ctx);
  limitReads(ctx, deps.reads, identity.session.userId);
  if (scope === 'owner' && 'role' in identity && identity.role !== 'owner') throw new HttpError('owner_required');
  if (operation.needsRecentProof === true) requireRecentProof(identity.session);
  return identity;
}

/** Every refusal counts, also a missing scope. A cached caller is read from the database only if the request is refused. */
async function guardCreate(request: Request, proceed: Proceed): Promise<void> {
  const { ctx, deps, authentication, operation } = request;
  const cached = authentication.cachedCaller(ctx);
  const identity = cached === undefined ? await findIdentity(request) : identityOf(ctx, cached);
  return limitRefusals(deps.refusedCreates, identity.caller, async () => {
    try {
      authorize(operation, identity);
      await proceed(identity);
    } catch (error) {
      // A revoked key or a suspended account is answered with that alone. A fault of ours may concern a charge, and stands.
      if (cached !== undefined && isRefusal(error)) authorize(operation, await findIdentity(request));
      throw error;
    }
  });
}

async function findIdentity({ ctx, deps, authentication, operation }: Request): Promise<ClientIdentity> {
  const taskId = operation.readsTask === true ? new URLSearchParams(ctx.querystring).get('taskId') : null;
  if (authentication.people.isFromConsole(ctx)) return personWithTask(ctx, deps, authentication, taskId);
  const { caller, task } = await authentication.client(ctx, taskId);
  return identityOf(ctx, caller, task);
}

/** A person is looked up at every request: a session may end, and a role change, at any time. */
async function personWithTask(ctx: Context, { db }: HttpDeps, { people }: Authentication, taskId: string | null) {
  const caller = await people.caller(ctx);
  const task = taskId !== null && isUuid(taskId) ? await findTask(db, taskId) : undefined;
  return identityOf(ctx, caller, task?.accountId === caller.accountId ? task : undefined);
}

function identityOf(ctx: Context, caller: Caller, task?: Task): ClientIdentity {
  // Clients that know only our own dialect say so, and need not know that of their key.
  const isNative = ctx.get('Videogen-Dialect') === 'native';
  return { caller, dialect: isNative ? 'native' : caller.dialect, task };
}

function authorize(operation: Operation, { caller, dialect }: ClientIdentity): void {
  if (operation.dialect !== undefined && operation.dialect !== dialect) {
    throw new HttpError('dialect_required', {
      msg: `this endpoint belongs to the dialect ${operation.dialect}; ${howToGetKieKey}`,
    });
  }
  if (operation.scope !== 'any' && !caller.scopes.some((scope) => scope === operation.scope)) {
    const who = caller.by.kind === 'key' ? 'the API key' : 'your role in this account';
    throw new HttpError('scope_missing', { msg: `${who} lacks the scope ${operation.scope}` });
  }
  if (operation.refusesSuspended === true && caller.suspended) throw new HttpError('account_suspended');
  if (operation.needsRecentProof === true && caller.by.kind === 'person') requireRecentProof(caller.by);
}

/** 422 names every fault. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.flatMap(fieldErrors).slice(0, maxFieldErrors));
}

/** An unknown field has a path of its own. Unknown parameters of a query are listed in the message of its schema. */
function fieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys' || message.startsWith('unknown parameter'))
    return [{ path: fieldPath(path), message }];
  return issue.keys.map((key) => ({ path: fieldPath([...path, key]), message: 'unknown field' }));
}

/** A parameter that is given twice is an array, which no schema takes. */
function queryObject({ querystring }: Context): Readonly<Record<string, unknown>> {
  const query = new URLSearchParams(querystring);
  const unfit = [...query].filter((pair) => !pair.every(isPlainText)).slice(0, maxFieldErrors);
  if (unfit.length > 0)
    throw invalidRequest(unfit.map(([name]) => ({ path: fieldPath([name]), message: notPlainText })));
  const oneOrAll = (values: readonly string[]) => (values.length === 1 ? values[0] : values);
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, oneOrAll(query.getAll(name))]));
}
