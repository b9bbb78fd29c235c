import type { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { Envelope } from './http-error.ts';
import type { ErrorCode } from './error-catalogue.ts';

export type RequestState = {
  requestId: string;
  /** Returns the client's address, or its /64 network for IPv6. Most requests do not need it. */
  clientAddress: () => string;
  errorCode?: ErrorCode;
  /** The authenticated caller: the account of a key, an operator, or a person. A request of the console has an account and a user. */
  accountId?: string;
  operatorId?: string;
  userId?: string;
  /** The path of an endpoint that was found without the router. */
  route?: string;
  keyId?: string;
  /** The task that a create made or found. */
  taskId?: string;
  /** Set while a create may be refused; to be called once it cannot. */
  endCreateAttempt?: () => void;
  /** The tool that an MCP request calls. */
  tool?: string;
  /** True for a long poll, whose duration is not measured. */
  isHeld?: boolean;
};

/** Koa's default type would accept any misspelled property. */
export type NoContextExtras = object;

export type Context = ParameterizedContext<RequestState, NoContextExtras>;
export type AppMiddleware = Middleware<RequestState, NoContextExtras>;
export type AppRouter = Router<RequestState, NoContextExtras>;

export const noStoreJsonHeaders = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
} as const;

export function answerEnvelope(ctx: Context, envelope: Envelope): void {
  answerJson(ctx, envelope.code, envelope);
}

/** Serializes here, where a bug of ours still becomes a clean 500. */
export function answerJson(ctx: Context, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  ctx.status = status;
  ctx.set(noStoreJsonHeaders);
  ctx.body = text;
}

/** A stream that fails breaks the connection, so that a client does not mistake a part for the whole. */
export function answerStream(ctx: Context, text: Readable, contentType = 'text/plain; charset=utf-8'): void {
  ctx.status = 200;
  ctx.set({ ...noStoreJsonHeaders, 'Content-Type': contentType });
  ctx.body = text;
}
