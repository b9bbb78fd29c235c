import { HttpFailure } from './http-failure.ts';
import type { Context } from './request-state.ts';

const rightHeader = 'send it as Authorization: Bearer <API_KEY>';

/** The key of an `Authorization` header; undefined without one. The scheme's case does not count (RFC 9110, section 11.1). */
export function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}

/** The key of a request. Throws `unauthorized`; to a client that sends the key in another way, it says how to send it. */
export function requireBearerToken(ctx: Context): string {
  const header = ctx.get('Authorization');
  const key = bearerToken(header);
  if (key !== undefined) return key;
  if (header === '' && ctx.get('X-API-Key') !== '') {
    throw new HttpFailure('unauthorized', {
      msg: `the API key is expected in another header than X-API-Key; ${rightHeader}`,
    });
  }
  if (/^(?:(?!bearer)\S+ +)?vg(?:op)?_\S+$/i.test(header)) {
    throw new HttpFailure('unauthorized', { msg: `the API key is sent without the scheme Bearer; ${rightHeader}` });
  }
  throw new HttpFailure('unauthorized');
}
