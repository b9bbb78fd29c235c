import type { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Envelope, ErrorCode } from './errors.ts';

/** What is known of a request. */
export type RequestState = {
  requestId: string;
  /** Of IPv6 the network. */
  clientAddress: string;
  /** How the request was refused, for the log. */
  errorCode?: ErrorCode;
  /** Set once the caller is known; the log wants it also for requests that are refused later. */
  accountId?: string;
  /** Set instead when an operator calls. */
  operatorId?: string;
  /** Set when a person in the console calls. */
  userId?: string;
  /** Set when the answer is held because the client asked for that: its duration says nothing about us. */
  isHeld?: boolean;
};

/** Nothing is put on the context itself: Koa's default type would let any misspelt property pass. */
export type Extras = object;

export type Context = ParameterizedContext<RequestState, Extras>;
export type Step = Middleware<RequestState, Extras>;
export type AppRouter = Router<RequestState, Extras>;

export const jsonHeaders = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
} as const;

/** Puts an envelope into the response. It is written out as text here, where a fault of ours still becomes a clean 500. */
export function answer(ctx: Context, envelope: Envelope): void {
  const text = JSON.stringify(envelope);
  ctx.status = envelope.code;
  ctx.set(jsonHeaders);
  ctx.body = text;
}

/** Puts a stream of text into the response; one that fails on its way breaks the connection, so that a part is not taken for all. */
export function answerText(ctx: Context, text: Readable, contentType = 'text/plain; charset=utf-8'): void {
  ctx.status = 200;
  ctx.set({ ...jsonHeaders, 'Content-Type': contentType });
  ctx.body = text;
}
