import type { z } from 'zod';
import { howToGetKieKey } from '../dialects/kie-request.ts';
import type { Caller, Dialect } from '../domain/api-key.ts';
import { fieldPath, maxFieldErrors } from '../domain/field-errors.ts';
import type { Actor } from '../domain/operator.ts';
import { isPlainText, notPlainText } from '../domain/task-input.ts';
import type { Task } from '../domain/task.ts';
import type { Authentication } from './authentication.ts';
import { answer, type Context } from './context.ts';
import { type Access, type Call, type EndpointSpec, everyRequest, failuresOf, type Operation } from './endpoint.ts';
import { answerTo, errorDataOf, HttpError, invalidRequest, isRefusal, toHttpError } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';
import { limitReads, limitRefusals } from './limits/rate-limits.ts';
import { readJson } from './server/read-json.ts';

export type Endpoint = Operation & {
  /** Guards the request, runs the handler and answers; throws what refuses the request. */
  readonly serve: (ctx: Context, deps: HttpDeps, authentication: Authentication) => Promise<void>;
};

/** Makes an endpoint from its one declaration: its guards, its documentation and, in tests, the check of its answers. */
export function defineEndpoint<
  const A extends Access,
  Data extends z.ZodType,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
>({ handler, failures = [], ...described }: EndpointSpec<A, Query, Body, Data>): Endpoint {
  const operation: Operation = { ...described, failures: failuresOf(described, failures) };
  const { query, body, jsonBody } = described;

  async function handle(ctx: Context, deps: HttpDeps, identity: Identity): Promise<void> {
    const json = body === undefined && jsonBody === undefined ? {} : await readJson(ctx);
    const parsed = { query: query && parse(query, queryObject(ctx)), input: body && parse(body, json) };
    // `identify` and the schemas give just what `A`, `Query` and `Body` promise; the compiler cannot follow that.
    const data = await handler({ ...identity, ...parsed, json, ctx } as unknown as Call<A, Query, Body>, deps);
    if (deps.checkAnswers === true) checkAnswer(operation, data);
    answer(ctx, { code: 200, msg: 'success', data });
  }

  async function guard(ctx: Context, deps: HttpDeps, authentication: Authentication): Promise<void> {
    const lookUp = () => identify(ctx, operation, deps, authentication);
    if (operation.isCreate !== true) return handle(ctx, deps, await lookUp());
    const known = authentication.knownCaller(ctx);
    const identity = known === undefined ? await lookUp() : { caller: known, dialect: dialectOf(ctx, known) };
    return limitRefusals(deps.refusedCreates, identity.caller, () =>
      handle(ctx, deps, identity).catch(async (error: unknown) => {
        // A revoked key or a suspended account is answered with that alone. A fault of ours may concern a charge, and stands.
        if (known !== undefined && isRefusal(error)) await lookUp();
        throw error;
      }),
    );
  }

  return {
    ...operation,
    serve: async (ctx, deps, authentication) => {
      try {
        await guard(ctx, deps, authentication);
      } catch (error) {
        if (deps.checkAnswers === true) checkRefusal(operation, toHttpError(error));
        throw error;
      }
    },
  };
}

type Identity = {
  readonly caller?: Caller;
  readonly dialect?: Dialect;
  readonly task?: Task | undefined;
  readonly actor?: Actor;
};

async function identify(
  ctx: Context,
  { scope, dialect, refusesSuspended, isCreate, readsTask }: Operation,
  deps: HttpDeps,
  authentication: Authentication,
): Promise<Identity> {
  if (scope === 'none') return {};
  if (scope === 'operator') return { actor: await authentication.operator(ctx) };
  const taskId = readsTask === true ? new URLSearchParams(ctx.querystring).get('taskId') : null;
  const { caller, task } = await authentication.client(ctx, taskId);
  if (dialect !== undefined && dialectOf(ctx, caller) !== dialect) {
    throw new HttpError('dialect_required', {
      msg: `this endpoint belongs to the dialect ${dialect}; ${howToGetKieKey}`,
    });
  }
  if (isCreate !== true) limitReads(ctx, deps.reads, caller);
  if (scope !== 'any' && !caller.scopes.includes(scope)) {
    throw new HttpError('scope_missing', { msg: `the API key lacks the scope ${scope}` });
  }
  if (refusesSuspended === true && caller.suspended) throw new HttpError('account_suspended');
  if (isCreate === true) authentication.remember(ctx, caller);
  return { caller, dialect: dialectOf(ctx, caller), task };
}

/** Clients that know only our own dialect say so, and need not know that of their key. */
function dialectOf(ctx: Context, caller: Caller): Dialect {
  return ctx.get('Videogen-Dialect') === 'native' ? 'native' : caller.dialect;
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

// Checks the answers of an endpoint against its declaration: an undeclared refusal or shape is a bug, 500. Runs in tests only;
// in production it would cost time and repair nothing.

function checkAnswer(operation: Operation, data: unknown): void {
  requireShape(operation, operation.data, data);
}

function checkRefusal(operation: Operation, refusal: HttpError): void {
  const { code, details } = refusal;
  if (code === 'internal') return;
  if (![...everyRequest, ...operation.failures].includes(code)) {
    throw new Error(`${operation.operationId} does not declare ${code}`, { cause: details.cause });
  }
  requireShape(operation, errorDataOf(code), answerTo(refusal).envelope.data);
}

function requireShape({ operationId }: Operation, schema: z.ZodType, data: unknown): void {
  const { error } = schema.safeParse(data);
  if (error !== undefined) throw new Error(`${operationId} answered another shape than it declares`, { cause: error });
}
