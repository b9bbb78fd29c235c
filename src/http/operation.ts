import type { z } from 'zod';
import type { Scope } from '../domain/api-key.ts';
import type { ModelCatalogue } from '../domain/models.ts';
import type { Failure } from './failures.ts';

/**
 * One endpoint as its users see it, declared beside its route: the OpenAPI document is made from it, and the tests hold
 * every answer against it.
 */
export type Operation = {
  readonly operationId: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /**
   * The scope that the key must have; `any` takes every good key of a client, `none` takes requests without one, and
   * `operator` takes the keys of operators and no others.
   */
  readonly key: Scope | 'any' | 'none' | 'operator';
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The schema of the body; what is allowed in it may depend on the models of this installation. */
  readonly body?: (models: ModelCatalogue) => z.ZodType;
  /** The schema of `data` in a 200. */
  readonly data: z.ZodType;
  /** Headers of a 200 beside those that every answer has: name and meaning. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** The operation leads to a callback to the URL in the request's `callBackUrl`. */
  readonly callsBack?: true;
  /** Every way in which the endpoint itself refuses; those of `everyRequest` need not be repeated. */
  readonly failures: readonly Failure[];
};

export const tags = {
  tasks: 'Create video generation tasks and follow them to their end.',
  account: 'Credits, models and limits.',
  callbacks: 'The notifications that are sent when a task ends.',
  keys: "The account's own API keys.",
  service: 'For load balancers and monitors; no API key is needed.',
  kie: 'Only for keys of the [dialect `kie`](/docs/dialect-kie), which tells what else such a key reads and sends otherwise.',
  operators: "For whoever runs the service, with an operator's key. Every change is written into the audit log.",
} as const;
export type Tag = keyof typeof tags;

/** What may happen to any request, before a route takes it or through no fault of its own. */
export const everyRequest: readonly Failure[] = [
  'malformed_request',
  'request_timeout',
  'url_too_long',
  'headers_too_large',
  'internal',
];

/** The refusals of `authenticate`, `requireScope` and the rates, and of a database that is away. */
export const keyFailures: readonly Failure[] = [
  'unauthorized',
  'too_many_bad_keys',
  'scope_missing',
  'rate_limited',
  'database_away',
  'database_busy',
];

/** The refusals of `authenticateOperator`, and of a database that is away. */
export const operatorFailures: readonly Failure[] = [
  'unauthorized',
  'too_many_bad_keys',
  'database_away',
  'database_busy',
];

/** The refusals of `readJson` and of the validation behind it. */
export const bodyFailures: readonly Failure[] = [
  'body_unreadable',
  'invalid_json',
  'body_not_object',
  'repeated_json_key',
  'body_too_large',
  'unsupported_media_type',
  'unsupported_encoding',
  'invalid_request',
];
