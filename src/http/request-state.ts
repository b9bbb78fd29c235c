import type { Middleware, ParameterizedContext } from 'koa';
import type { ErrorCode } from './errors.ts';

/** What is known of every request. */
export type RequestState = {
  requestId: string;
  /** How the request was refused, for the log. */
  errorCode?: ErrorCode;
  /** Set once the caller is known; the log wants it also for requests that are refused later. */
  accountId?: string;
  /** Set instead when an operator calls. */
  operatorId?: string;
};

/** Nothing is put on the context itself: Koa's default type would let any misspelt property pass. */
export type Extras = object;

export type Context = ParameterizedContext<RequestState, Extras>;
export type Step = Middleware<RequestState, Extras>;
