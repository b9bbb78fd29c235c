import { findCaller } from '../../stores/api-keys.ts';
import type { Database } from '../../stores/database.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** Finds the caller by the API key. A malformed, unknown, revoked or expired key and none get one and the same answer. */
export function authenticate(db: Database): Step<WithCaller> {
  return async (ctx, next) => {
    const key = bearerToken(ctx.get('Authorization'));
    const caller = key === undefined ? undefined : await findCaller(db, key);
    if (caller === undefined) throw new HttpFailure('unauthorized');
    ctx.state.caller = caller;
    ctx.state.accountId = caller.accountId;
    await next();
  };
}

/** The scheme's case does not count (RFC 9110, section 11.1). */
function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}
