import { Readable } from 'node:stream';
import type { z } from 'zod';
import { howToGetKieKey } from '../dialects/kie-request.ts';
import type { Caller } from '../domain/api-key.ts';
import { fieldPath, maxFieldErrors } from '../domain/field-errors.ts';
import { isPlainText, notPlainText } from '../domain/task-input.ts';
import type { Task } from '../domain/task.ts';
import type { Authentication } from './authentication.ts';
import { answer, answerText, type Context } from './context.ts';
import {
  type Access,
  type Call,
  type ClientIdentity,
  type EndpointSpec,
  failuresOf,
  type Identity,
  isForClients,
  type Operation,
} from './endpoint.ts';
import { HttpError, invalidRequest, isRefusal } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { rateAnswerHeaders } from './limits/rate-headers.ts';
import { limitReads, limitRefusals } from './limits/rate-limits.ts';
import { readJson } from './server/read-json.ts';

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
  const described = { ...spec, scope };
  const operation: Operation = {
    ...described,
    method: route.startsWith('GET ') ? 'get' : 'post',
    path: route.slice(route.indexOf('/')),
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
  const { ctx, deps, authentication, operation } = request;
  if (operation.scope === 'none') return proceed({});
  if (operation.scope === 'operator') return proceed({ actor: await authentication.operator(ctx) });
  if (operation.isCreate === true) return guardCreate(request, proceed);
  const identity = await lookUp(request);
  limitReads(ctx, deps.reads, identity.caller);
  authorize(operation, identity);
  return proceed(identity);
}

/** Every refusal counts, also for want of the scope. A known caller is not looked up unless the request is refused. */
async function guardCreate(request: Request, proceed: Proceed): Promise<void> {
  const { ctx, deps, authentication, operation } = request;
  const known = authentication.knownCaller(ctx);
  const identity = known === undefined ? await lookUp(request) : identityOf(ctx, known);
  return limitRefusals(deps.refusedCreates, identity.caller, async () => {
    try {
      authorize(operation, identity);
      await proceed(identity);
    } catch (error) {
      // A revoked key or a suspended account is answered with that alone. A fault of ours may concern a charge, and stands.
      if (known !== undefined && isRefusal(error)) authorize(operation, await lookUp(request));
      throw error;
    }
  });
}

async function lookUp({ ctx, authentication, operation: { isCreate, readsTask } }: Request): Promise<ClientIdentity> {
  const taskId = readsTask === true ? new URLSearchParams(ctx.querystring).get('taskId') : null;
  const { caller, task } = await authentication.client(ctx, taskId);
  if (isCreate === true) authentication.remember(ctx, caller);
  return identityOf(ctx, caller, task);
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
    throw new HttpError('scope_missing', { msg: `the API key lacks the scope ${operation.scope}` });
  }
  if (operation.refusesSuspended === true && caller.suspended) throw new HttpError('account_suspended');
}

/** 422 names every fault. */
function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, maxFieldErrors);
  throw invalidRequest(issues.map(({ path, message }) => ({ path: fieldPath(path), message })));
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
