import { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import { fieldPath, maxFieldErrors } from '../../platform/text/field-errors.ts';
import { fieldErrorsOfIssue, messageOfRequestIssue } from '../../platform/text/validation-messages.ts';
import { isStorableText, notStorableTextMessage } from '../../catalogue/input/url-schema-and-text-checks.ts';
import type { Authentication } from './authentication.ts';
import { requireRecentProof } from '../sign-in/authenticate-session.ts';
import { requireOwnPage } from '../console/same-origin.ts';
import { answerEnvelope, answerJson, answerStream, type Context } from './request-context-and-responses.ts';
import {
  type Access,
  type EndpointCall,
  type ClientIdentity,
  type DeepReadonly,
  type EndpointSpec,
  endpointFailures,
  type Identity,
  isClientScope,
  isConsoleApiPath,
  type Operation,
  type WithDb,
} from './endpoint-spec.ts';
import { uploadCommand } from '../../media/references/upload-limits-and-addresses.ts';
import { HttpError, invalidRequest } from './http-error.ts';
import { maxJsonBodyBytes } from './request-sizes.ts';
import { isRefusal, toHttpError } from './to-http-error.ts';
import { rateHeaderDocs } from './limits/rate-headers.ts';
import {
  rateLimitKeyOfCaller,
  limitOtherRequests,
  type RateLimiter,
  limitRefusedCreates,
} from './limits/rate-limits.ts';
import { withUploadSlot } from './limits/upload-slots.ts';
import { allowSlowBody } from './server/body-time-limit.ts';
import { requireJsonOrFormSize, readJsonOrForm } from './server/read-json-or-multipart.ts';
import { readJson } from './server/read-or-save-body-within-limits.ts';

export type GuardDeps = {
  readonly publicUrl: string;
  /** The origin of the console; its sessions are refused on other origins and hosts. */
  readonly console: { readonly publicUrl: string };
  /** Limits all requests of an account or person but creates; undefined for no limit, here and below. */
  readonly reads: RateLimiter | undefined;
  readonly refusedCreates: RateLimiter | undefined;
};

/** `Deps`: what its handler needs. Without it, the type of an endpoint with any needs, which can be described but not run. */
export type Endpoint<Deps = never> = Operation & {
  /** Guards the request, runs the handler and writes the response; throws an `HttpError` to refuse it. */
  readonly serve: (ctx: Context, deps: Deps & GuardDeps, authentication: Authentication) => Promise<void>;
  /** Validates what the client gave and runs the handler, for a request that passed the guards. */
  readonly run: (request: GuardedRequest, deps: Deps) => Promise<unknown>;
};

/** What all of some endpoints or tools need together: derived from their declarations, and passed to none of them as a type. */
export type DepsOfAll<Runnable> = (
  Runnable extends { readonly run: (call: never, deps: infer Deps) => unknown } ? (deps: Deps) => void : never
) extends (deps: infer All) => void
  ? All
  : never;

export type GuardedRequest = {
  readonly identity: Identity<Access>;
  readonly ctx: Context;
  readonly query?: unknown;
  readonly body?: unknown;
};

/** An endpoint whose data has a known type. */
export type EndpointWithData<Data, Deps = WithDb> = Omit<Endpoint<Deps>, 'run'> & {
  readonly run: (request: GuardedRequest, deps: Deps) => Promise<DeepReadonly<Data>>;
};

/** Makes an endpoint from its one declaration: guards, documentation and handler. */
export function defineEndpoint<
  Data extends z.ZodType,
  const A extends Access = 'operator',
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Deps = WithDb,
>({
  route,
  handler,
  failures = [],
  answerHeaders = {},
  ...spec
}: EndpointSpec<A, Query, Body, Data, Deps>): EndpointWithData<z.output<Data>, Deps> {
  // Without a scope, the compiler infers 'operator' for `A`.
  const scope = (spec.scope ?? 'operator') as A;
  const described = { ...spec, scope, method: methodOf(route), path: route.slice(route.indexOf('/')) };
  const operation: Operation = {
    ...described,
    failures: endpointFailures(described, failures),
    answerHeaders: { ...(isClientScope(scope) && rateHeaderDocs), ...answerHeaders },
  };
  const { query, body } = spec;
  const run = async ({ identity, ctx, ...given }: GuardedRequest, deps: Deps) => {
    const parsed = {
      query: query && parseOrRefuse(query, given.query),
      input: body && parseOrRefuse(body, given.body),
    };
    // The compiler does not infer that the guard returns the identity of this scope, and that a missing schema parses nothing.
    const call = { ...identity, ...parsed, params: paramsOf(ctx), ctx } as EndpointCall<A, Query, Body>;
    return handler(call, deps);
  };
  return {
    ...operation,
    run,
    serve: (ctx, deps, authentication) =>
      guardThenProceed({ ctx, deps, authentication, operation }, async (identity) => {
        const takesMedia = operation.takesInlineFiles === true || operation.createsTask === true;
        const serve = async () => {
          const reading = body && (operation.takesInlineFiles === true ? readJsonOrForm : readJson)(ctx);
          const json = await (takesMedia ? reading?.catch(pointToUploads(deps)) : reading);
          const given = { query: query && queryObject(ctx), body: json };
          succeed(ctx, operation, await run({ identity, ctx, ...given }, deps));
        };
        const isUpload = operation.takesInlineFiles === true && 'caller' in identity;
        return isUpload ? withLargeBodySlot(ctx, { deps, accountId: identity.caller.accountId }, serve) : serve();
      }),
  };
}

type Uploading = { readonly deps: Pick<GuardDeps, 'publicUrl'>; readonly accountId: string };

/** Runs `serve`, which reads a body with files. A body beyond the usual limit takes a slot of the account's uploads. */
export async function withLargeBodySlot(
  ctx: Context,
  { deps, accountId }: Uploading,
  serve: () => Promise<void>,
): Promise<void> {
  const bytes = await Promise.resolve(ctx).then(requireJsonOrFormSize).catch(pointToUploads(deps));
  if (bytes <= maxJsonBodyBytes) return serve();
  allowSlowBody(ctx.req);
  return withUploadSlot({ accountId, bytes }, serve);
}

/** Files that are too large for a request can be uploaded on their own. */
function pointToUploads({ publicUrl }: Uploading['deps']) {
  return (error: unknown): never => {
    if (!(error instanceof HttpError) || error.code !== 'body_too_large') throw error;
    const hint = `upload files, and send their URLs: ${uploadCommand(publicUrl)}`;
    throw new HttpError('body_too_large', { msg: `${error.envelope.msg}; ${hint}` });
  };
}

function methodOf(route: string): Operation['method'] {
  if (route.startsWith('GET ')) return 'get';
  return route.startsWith('DELETE ') ? 'delete' : 'post';
}

/** The router sets the parameters; the type of this context does not declare them. */
function paramsOf(ctx: Context): Readonly<Record<string, string>> {
  const { params = {} } = ctx as { readonly params?: Readonly<Record<string, string>> };
  return params;
}

function succeed(ctx: Context, { shape, status, contentType, sendsFile }: Operation, data: unknown): void {
  if (data instanceof Readable) return answerStream(ctx, data, contentType);
  if (sendsFile !== undefined) return;
  if (shape === undefined) answerEnvelope(ctx, { code: 200, msg: 'success', data });
  else answerJson(ctx, status ?? 200, data);
}

/** The guards read these parts of a declaration. */
export type GuardSpec = Pick<
  Operation,
  'scope' | 'createsTask' | 'readsTask' | 'changesNothing' | 'refusesSuspended' | 'needsRecentProof'
>;

/** A request before the guards. */
export type RequestBeforeGuards<Deps = GuardDeps> = {
  readonly ctx: Context;
  readonly deps: Deps;
  readonly authentication: Authentication;
};
type Request = RequestBeforeGuards & { readonly operation: GuardSpec };

type Proceed<Result> = (identity: Identity<Access>) => Promise<Result>;

export async function guardThenProceed<Result>(request: Request, proceed: Proceed<Result>): Promise<Result> {
  const { ctx, deps, authentication, operation } = request;
  const { scope } = operation;
  if (scope === 'none') {
    if (isConsoleApiPath(ctx.path)) requireOwnPage(ctx, deps.console.publicUrl);
    return proceed({});
  }
  if (scope === 'operator') return proceed({ actor: await operatorOf(request) });
  if (scope === 'session' || scope === 'member' || scope === 'owner') return proceed(await personOf(request, scope));
  if (operation.createsTask === true) return guardCreate(request, proceed);
  const identity = await authentication.identify(ctx, operation);
  limitOtherRequests(ctx, deps.reads, rateLimitKeyOfCaller(identity.caller));
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
      ? { session: await authentication.people.session(ctx, operation) }
      : await authentication.people.member(ctx, operation);
  limitOtherRequests(ctx, deps.reads, identity.session.userId);
  if (scope === 'owner' && 'role' in identity && identity.role !== 'owner') throw new HttpError('owner_required');
  if (operation.needsRecentProof === true) requireRecentProof(identity.session);
  return identity;
}

/** Counts every refused create, except 429s. A cached caller is read again only if the request is refused. */
async function guardCreate<Result>(request: Request, proceed: Proceed<Result>): Promise<Result> {
  const { ctx, deps, authentication, operation } = request;
  const cached = authentication.cachedIdentity(ctx);
  const identity = cached ?? (await authentication.identify(ctx, operation));
  const attempt = await limitRefusedCreates(ctx, deps.refusedCreates, identity.caller);
  try {
    authorize(operation, identity);
    return await proceed(identity);
  } catch (thrown) {
    const error = cached === undefined ? thrown : await currentError(request, thrown);
    if (isRefusal(error) && toHttpError(error).envelope.code !== 429) attempt.fail();
    throw error;
  } finally {
    attempt.end();
  }
}

/**
 * The cached caller may be outdated, so a key revoked or an account suspended since then is reported first. A 5xx is not replaced, because
 * its task may have been charged.
 */
async function currentError({ ctx, authentication, operation }: Request, thrown: unknown): Promise<unknown> {
  if (!isRefusal(thrown)) return thrown;
  try {
    authorize(operation, await authentication.identify(ctx, operation));
    return thrown;
  } catch (error) {
    return error;
  }
}

function authorize(operation: GuardSpec, { caller }: ClientIdentity): void {
  if (operation.scope !== 'any' && !caller.scopes.some((scope) => scope === operation.scope)) {
    const who = caller.by.kind === 'key' ? 'the API key' : 'your role in this account';
    throw new HttpError('scope_missing', { msg: `${who} lacks the scope ${operation.scope}` });
  }
  if (operation.refusesSuspended === true && caller.suspended) throw new HttpError('account_suspended');
  if (operation.needsRecentProof === true && caller.by.kind === 'person') requireRecentProof(caller.by);
}

/** Throws a 422 with every error, up to `maxFieldErrors`. */
export function parseOrRefuse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const parsed = schema.safeParse(value, { error: messageOfRequestIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.flatMap(fieldErrorsOfIssue).slice(0, maxFieldErrors));
}

/** A repeated parameter becomes an array, which only the schema of a list takes. */
function queryObject({ querystring }: Context): Readonly<Record<string, unknown>> {
  const query = new URLSearchParams(querystring);
  const malformed = [...query].filter((pair) => !pair.every(isStorableText)).slice(0, maxFieldErrors);
  if (malformed.length > 0)
    throw invalidRequest(malformed.map(([name]) => ({ path: fieldPath([name]), message: notStorableTextMessage })));
  const oneOrAll = (values: readonly string[]) => (values.length === 1 ? values[0] : values);
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, oneOrAll(query.getAll(name))]));
}
