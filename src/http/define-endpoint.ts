import type { z } from 'zod';
import { howToGetKieKey } from '../dialects/kie-request.ts';
import type { Caller } from '../domain/api-key.ts';
import { fieldPath, maxFieldErrors } from '../domain/field-errors.ts';
import { isPlainText, notPlainText } from '../domain/task-input.ts';
import type { Task } from '../domain/task.ts';
import type { Authentication } from './authentication.ts';
import { answer, type Context } from './context.ts';
import {
  type Access,
  type ClientIdentity,
  type EndpointSpec,
  failuresOf,
  type Identities,
  isForClients,
  type Operation,
  type Parsed,
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
  const A extends Access,
  Data extends z.ZodType,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>({ route, handler, failures = [], answerHeaders = {}, ...described }: EndpointSpec<A, Query, Body, Data>): Endpoint {
  const operation: Operation = {
    ...described,
    method: route.startsWith('GET ') ? 'get' : 'post',
    path: route.slice(route.indexOf('/')),
    failures: failuresOf(described, failures),
    answerHeaders: { ...(isForClients(described.scope) && rateAnswerHeaders), ...answerHeaders },
  };
  const { scope, query, body, jsonBody } = described;

  async function handle(ctx: Context, deps: HttpDeps, identity: Identities[A]): Promise<void> {
    const json = body === undefined && jsonBody === undefined ? {} : await readJson(ctx);
    const parsed = { query: parseWith<Query>(query, () => queryObject(ctx)), input: parseWith<Body>(body, () => json) };
    const data = await handler({ ...identity, ...parsed, json, ctx }, deps);
    answer(ctx, { code: 200, msg: 'success', data });
  }

  return {
    ...operation,
    serve: (ctx, deps, authentication) =>
      guards[scope]({ ctx, deps, authentication, operation }, (identity) => handle(ctx, deps, identity)),
  };
}

type Request = {
  readonly ctx: Context;
  readonly deps: HttpDeps;
  readonly authentication: Authentication;
  readonly operation: Operation;
};

type Proceed<Identity> = (identity: Identity) => Promise<void>;
type Guard<Identity> = (request: Request, proceed: Proceed<Identity>) => Promise<void>;

/** Finds out who calls, and lets the request proceed or throws what refuses it. */
const guards: { readonly [A in Access]: Guard<Identities[A]> } = {
  none: (_request, proceed) => proceed({}),
  operator: async ({ ctx, authentication }, proceed) => proceed({ actor: await authentication.operator(ctx) }),
  any: guardClient,
  'tasks:write': guardClient,
  'tasks:read': guardClient,
  'credits:read': guardClient,
  'keys:write': guardClient,
};

async function guardClient(request: Request, proceed: Proceed<ClientIdentity>): Promise<void> {
  const { ctx, deps, operation } = request;
  if (operation.isCreate === true) return guardCreate(request, proceed);
  const identity = await lookUp(request);
  limitReads(ctx, deps.reads, identity.caller);
  authorize(operation, identity);
  return proceed(identity);
}

/** Every refusal counts, also for want of the scope. A known caller is not looked up unless the request is refused. */
async function guardCreate(request: Request, proceed: Proceed<ClientIdentity>): Promise<void> {
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

function parseWith<Schema extends z.ZodType | undefined>(
  schema: Schema | undefined,
  read: () => unknown,
): Parsed<Schema> {
  // Undefined without a schema, else what it parses: just what `Parsed` says, which the compiler cannot follow.
  return (schema === undefined ? undefined : parse(schema, read())) as Parsed<Schema>;
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
