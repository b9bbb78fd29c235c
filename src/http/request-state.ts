import type { Middleware, ParameterizedContext } from 'koa';
import type { Caller } from '../domain/api-key.ts';
import type { Dialect } from '../domain/dialect.ts';
import type { Operator } from '../domain/operator.ts';
import type { Failure } from './failures.ts';

/** What is known of every request. */
export type RequestState = {
  requestId: string;
  /** How the request was refused, for the log. */
  failure?: Failure;
  /** Set once the caller is known; the log wants it also for requests that are refused later. */
  accountId?: string;
  /** In which the request is read and answered; set with the account. */
  dialect?: Dialect;
  /** Set instead when an operator calls. */
  operatorId?: string;
};

// What a step of the pipeline adds for the steps below it; a route names what it uses in the type of its handler.
export type WithCaller = { caller: Caller; dialect: Dialect };
export type WithOperator = { operator: Operator };
export type WithQuery<Query> = { query: Query };
/** `body` is a JSON object, not yet validated. */
export type WithBody = { body: Readonly<Record<string, unknown>> };

/** Nothing is put on the context itself: Koa's default type would let any misspelt property pass. */
export type Extras = object;

export type Context<Added = unknown> = ParameterizedContext<RequestState & Added, Extras>;
export type Step<Added = unknown> = Middleware<RequestState & Added, Extras>;
