import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller, Dialect, Scope } from '../domain/api-key.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { Actor } from '../domain/operator.ts';
import type { SignedIn } from '../domain/session.ts';
import type { Task } from '../domain/task.ts';
import type { PersonOfAccount } from './console/authenticate-session.ts';
import type { Context } from './context.ts';
import type { ErrorCode } from './errors.ts';
import type { HttpDeps } from './http-deps.ts';

/**
 * Who may call: a key or a role with this scope, any good key of a client or any member, an operator's key or a person who is an
 * operator, or a request without a key. The last three are for the console alone: any person with a session, any member of the
 * account that the page names, and its owners.
 */
export type Access = Scope | 'any' | 'operator' | 'none' | 'session' | 'member' | 'owner';

/** An endpoint as a client sees it; the OpenAPI document is made from this. */
type Described = {
  readonly operationId: string;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** Documented request headers. */
  readonly headers?: z.ZodObject;
  /** Documents a body that is a file, which the handler reads itself. */
  readonly fileBody?: { readonly types: readonly string[]; readonly maxBytes: number };
  /** Documents a JSON body that the handler validates itself; the models of this installation may be part of it. */
  readonly jsonBody?: (models: ModelCatalogue) => z.ZodType;
  /** Headers of a 200 beside those that every answer has: name and meaning. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Of a 200 that is a stream of text, and no envelope; `data` is that stream. */
  readonly contentType?: string;
  /** The operation leads to a callback to the URL in the request's `callBackUrl`. */
  readonly callsBack?: true;
  /** The endpoint exists only for keys of this dialect. */
  readonly dialect?: Dialect;
  readonly refusesSuspended?: true;
  /** A person must have proved who they are a short while ago; a key has not to. */
  readonly needsRecentProof?: true;
  /**
   * The handler's own statement judges rate, suspension and whether the key is still good, so a caller known from a short
   * while ago is not looked up first. Everything else that a client does counts against the limit of reads.
   */
  readonly isCreate?: true;
  /** The task of the query's `taskId` is read together with the caller, in one statement. */
  readonly readsTask?: true;
};

/** The declaration of an endpoint: its guards, its description and its handler. */
export type EndpointSpec<
  A extends Access,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Data extends z.ZodType,
> = Described & {
  readonly route: `${'GET' | 'POST'} /${string}`;
  /** Without it, operators alone may call. */
  readonly scope?: A;
  readonly query?: Query;
  readonly body?: Body;
  /** The schema of `data` in a 200. */
  readonly data: Data;
  /** The refusals of the handler itself; those of the guards follow from the other fields. */
  readonly failures?: readonly ErrorCode[];
  readonly handler: (call: Call<A, Query, Body>, deps: HttpDeps) => Promise<DeepReadonly<z.output<Data>>>;
};

/** What a handler knows of a request once every guard has let it pass. */
export type Call<A extends Access, Query, Body> = Identity<A> & {
  readonly query: Parsed<Query>;
  readonly input: Parsed<Body>;
  /** The body of an endpoint with `jsonBody`. */
  readonly json: Readonly<Record<string, unknown>>;
  /** For headers and the end of the connection; the body is what the handler returns. */
  readonly ctx: Context;
};

export type ClientIdentity = {
  readonly caller: Caller;
  /** In which the request is read and answered. */
  readonly dialect: Dialect;
  /** Where `readsTask` is set: undefined when the caller has no task of that id. */
  readonly task: Task | undefined;
};

/** What is known of who calls. */
export type Identity<A extends Access> = A extends 'operator'
  ? { readonly actor: Actor }
  : A extends 'none'
    ? object
    : A extends 'session'
      ? { readonly session: SignedIn }
      : A extends 'member' | 'owner'
        ? PersonOfAccount
        : ClientIdentity;

/** Presenters may answer what they must not change. */
export type DeepReadonly<T> = T extends Readable
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
      : T;

export type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

export type Operation = Described & {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly scope: Access;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly data: z.ZodType;
  /** Every refusal that a client may meet here, beside those of `everyRequest`. */
  readonly failures: readonly ErrorCode[];
};

/** Refusals that any request may meet before a route takes it, or through no fault of its own. */
export const everyRequest: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'url_too_long',
  'headers_too_large',
  'internal',
];

const bodyFailures: readonly ErrorCode[] = [
  'body_unreadable',
  'invalid_json',
  'body_not_object',
  'duplicate_json_key',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'invalid_request',
];

const fileFailures: readonly ErrorCode[] = [
  'body_unreadable',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
];

/** The refusals of the guards that a declaration asks for, and those of its handler. */
export function failuresOf(
  {
    path,
    scope,
    dialect,
    refusesSuspended,
    needsRecentProof,
    isCreate,
    query,
    body,
    jsonBody,
    fileBody,
  }: Omit<Operation, 'failures' | 'method'>,
  ofHandler: readonly ErrorCode[],
): readonly ErrorCode[] {
  const takesKeys = scope === 'operator' || isForClients(scope);
  const guards: readonly (readonly [isOn: boolean | undefined, failures: readonly ErrorCode[]])[] = [
    [takesKeys, ['unauthorized', 'too_many_bad_keys']],
    [scope !== 'none', ['not_signed_in', 'database_unavailable', 'database_busy']],
    [scope !== 'none' || isOfConsole(path), ['cross_site_request', 'misdirected_request']],
    [isForClients(scope) || isOfAccount(scope), ['account_not_found']],
    [scope === 'owner', ['owner_required']],
    // To somebody in the console who is no operator.
    [scope === 'operator', ['unknown_endpoint']],
    [scope === 'session' || isOfAccount(scope), ['rate_limited']],
    [needsRecentProof, ['reauthentication_required']],
    [isForClients(scope), ['rate_limited']],
    [isForClients(scope) && scope !== 'any', ['scope_missing']],
    [dialect !== undefined, ['dialect_required']],
    [refusesSuspended, ['account_suspended']],
    [isCreate, ['too_many_refused_creates']],
    [body !== undefined || jsonBody !== undefined, bodyFailures],
    [fileBody !== undefined, fileFailures],
    [query !== undefined, ['invalid_request']],
  ];
  return [...new Set([...guards.flatMap(([isOn, failures]) => (isOn === true ? failures : [])), ...ofHandler])];
}

/** Each client has a rate. */
export function isForClients(scope: Access): boolean {
  return !['none', 'operator', 'session', 'member', 'owner'].includes(scope);
}

/** Where a page must name one of the person's accounts. */
function isOfAccount(scope: Access): boolean {
  return scope === 'member' || scope === 'owner';
}

/** Endpoints that pages of the console alone may call. */
export function isOfConsole(path: string): boolean {
  return path.startsWith('/api/console/');
}
