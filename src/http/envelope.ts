import type { ErrorCode } from './errors.ts';
import type { Context } from './request-state.ts';

/** The one shape of every answer (spec 2.2); `code` equals the HTTP status. */
export type Envelope = {
  readonly code: number;
  readonly msg: string;
  /** Of a refusal: the stable string that clients branch on. */
  readonly error?: ErrorCode;
  readonly data: unknown;
};

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
