import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Caller, Dialect, Scope } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import type { SignedIn } from '../../accounts/sign-in/signed-in-type-and-session-lifetimes.ts';
import type { Task } from '../../catalogue/tasks/task.ts';
import type { PersonOfAccount } from '../sign-in/authenticate-session.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Context } from './request-context-and-responses.ts';
import { databaseFailures, type ErrorCode } from './error-catalogue.ts';
import type { HttpError } from './http-error.ts';

/**
 * The required caller: a key or role with this scope; `any` key or member; an operator, by key or in the console; anyone (`none`).
 * Only the console uses the others: a signed-in person (`session`), a `member` of the account that the page names, or an `owner` of it.
 */
export type Access = Scope | 'any' | 'operator' | 'none' | 'session' | 'member' | 'owner';

/** Another API whose requests we accept. Its responses have no envelope, and its errors have its own form. */
export type ErrorShape = {
  readonly name: string;
  readonly errorBody: (error: HttpError) => object;
  readonly errorSchema: z.ZodType;
};

/** An endpoint as clients see it. Its guards and its OpenAPI entry are made from this. */
type Described = {
  readonly operationId: string;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** Documented request headers. */
  readonly headers?: z.ZodObject;
  /** Content types of a body that is a file, which the handler reads itself. */
  readonly fileTypes?: readonly string[];
  /** The body may be of any type, because its content is judged; `fileTypes` are those that clients send. */
  readonly takesAnyType?: true;
  /** Additional headers of a success: name and meaning. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** The API that the endpoint belongs to, if it is not our own. */
  readonly shape?: ErrorShape;
  /** The status of a success; 200 by default. */
  readonly status?: 202;
  /** Content types of a file, or of a part of it, which the handler sends itself, or redirects to. */
  readonly sendsFile?: readonly string[];
  /** The body may be a form with files (`multipart/form-data`), or JSON with files as data URLs. */
  readonly takesInlineFiles?: true;
  /** The content type of a 200 that streams text instead of an envelope; `data` is that stream. */
  readonly contentType?: string;
  readonly refusesSuspended?: true;
  /** A person must have authenticated recently; keys are exempt. */
  readonly needsRecentProof?: true;
  /**
   * Documents the body as a create request and the callback it leads to. The handler's statement checks rate, suspension and key, so a
   * cached caller is not read again; all other requests count against the rate of reads.
   */
  readonly createsTask?: true;
  /** Documents the body as a create request, without creating a task. */
  readonly takesTaskRequest?: true;
  /** Reads the task of the query's `taskId` in the statement that finds the caller. */
  readonly readsTask?: true;
  /** A request that is no GET, but changes nothing: an operator who views an account may make it. Every GET changes nothing. */
  readonly changesNothing?: true;
};

export type WithDb = { readonly db: Database };
/** Unix milliseconds. */
export type WithClock = { readonly now: () => number };

export type EndpointSpec<
  A extends Access,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Data extends z.ZodType,
  Deps = WithDb,
> = Described & {
  /** Parameters of the path are in braces: `GET /v1/videos/{id}`. */
  readonly route: `${'GET' | 'POST' | 'DELETE'} /${string}`;
  /** `operator` by default. */
  readonly scope?: A;
  readonly query?: Query;
  readonly body?: Body;
  /** The schema of `data` in a 200. */
  readonly data: Data;
  /** Errors of the handler; those of the guards are added. */
  readonly failures?: readonly ErrorCode[];
  /** The type of `deps` declares what the handler needs of the process, which `src/run/main` provides; the database by default. */
  readonly handler: (call: EndpointCall<A, Query, Body>, deps: Deps) => Promise<DeepReadonly<z.output<Data>>>;
};

/** A request that passed every guard. */
export type EndpointCall<A extends Access, Query, Body> = Identity<A> & {
  readonly query: Parsed<Query>;
  /** The decoded parameter of the path; empty without one. */
  readonly params: Readonly<Record<string, string>>;
  readonly input: Parsed<Body>;
  /** Use it only to set headers and to observe the end of the connection; the handler returns the body. */
  readonly ctx: Context;
};

export type ClientIdentity = {
  readonly caller: Caller;
  /** The dialect of request and response. */
  readonly dialect: Dialect;
  /** With `readsTask`: undefined if the caller has no task with this id. */
  readonly task: Task | undefined;
};

export type Identity<A extends Access> = A extends 'operator'
  ? { readonly actor: Actor }
  : A extends 'none'
    ? object
    : A extends 'session'
      ? { readonly session: SignedIn }
      : A extends 'member' | 'owner'
        ? PersonOfAccount
        : ClientIdentity;

/** Lets handlers return read-only values. */
export type DeepReadonly<T> = T extends Readable
  ? T
  : T extends readonly (infer Item)[]
    ? readonly DeepReadonly<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
      : T;

export type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

export type Operation = Described & {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly scope: Access;
  readonly query?: z.ZodObject | undefined;
  readonly body?: z.ZodType | undefined;
  readonly data: z.ZodType;
  /** Every error of this endpoint except those of `failuresOfEveryRequest`. */
  readonly failures: readonly ErrorCode[];
};

/** Errors that any request can get: before its route is matched, or because of a bug of ours. */
export const failuresOfEveryRequest: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'url_too_long',
  'headers_too_large',
  'internal',
];

const fileFailures: readonly ErrorCode[] = [
  'body_unreadable',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
];

const bodyFailures: readonly ErrorCode[] = [
  ...fileFailures,
  'invalid_json',
  'body_not_object',
  'duplicate_json_key',
  'invalid_request',
];

/** The errors of the guards that a declaration switches on, and those of its handler. */
export function endpointFailures(
  { path, method, scope, query, body, fileTypes, ...guards }: Omit<Operation, 'failures'>,
  ofHandler: readonly ErrorCode[],
): readonly ErrorCode[] {
  const isClient = isClientScope(scope);
  const isConsole = ['session', 'member', 'owner'].includes(scope);
  const codes: readonly (readonly [isOn: boolean | undefined, failures: readonly ErrorCode[]])[] = [
    [scope === 'operator' || isClient, ['unauthorized', 'too_many_bad_keys']],
    [scope !== 'none', ['not_signed_in', ...databaseFailures]],
    [scope !== 'none' || isConsoleApiPath(path), ['cross_site_request', 'misdirected_request']],
    [isClient || scope === 'member' || scope === 'owner', ['account_not_found']],
    [(isClient || isConsole) && method !== 'get' && guards.changesNothing !== true, ['read_only_view']],
    [scope === 'owner', ['owner_required']],
    // The console returns this to users who are not operators.
    [scope === 'operator', ['unknown_endpoint']],
    [isClient || isConsole, ['rate_limited']],
    [guards.needsRecentProof, ['reauthentication_required']],
    [isClient && scope !== 'any', ['scope_missing']],
    [guards.refusesSuspended, ['account_suspended']],
    [guards.createsTask, ['too_many_refused_creates']],
    [body !== undefined, bodyFailures],
    [guards.takesInlineFiles, ['malformed_form', 'account_closed', 'too_many_uploads', 'uploads_busy']],
    [fileTypes !== undefined, fileFailures.filter((code) => code !== 'unsupported_media_type' || !guards.takesAnyType)],
    [query !== undefined, ['invalid_request']],
  ];
  return [...new Set([...codes.flatMap(([isOn, failures]) => (isOn === true ? failures : [])), ...ofHandler])];
}

/** True if clients call the endpoint with a key, or people with their role in an account. */
export function isClientScope(scope: Access): boolean {
  return !['none', 'operator', 'session', 'member', 'owner'].includes(scope);
}

export function isConsoleApiPath(path: string): boolean {
  return path.startsWith('/api/console/');
}
