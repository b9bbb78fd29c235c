import { findCaller } from '../../stores/api-keys.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** Finds the caller by the API key. A malformed, unknown, revoked or expired key and none get one and the same answer. */
export function authenticate(deps: Pick<HttpDeps, 'db' | 'noteKeyUse' | 'badKeys'>): Step<WithCaller> {
  const { db, noteKeyUse, badKeys } = deps;
  return async (ctx, next) => {
    const key = bearerToken(ctx.get('Authorization'));
    if (key === undefined) throw new HttpFailure('unauthorized');
    badKeys.refuse(ctx.req, key);
    const caller = await findCaller(db, key);
    badKeys.note(ctx.req, key, caller !== undefined);
    if (caller === undefined) throw new HttpFailure('unauthorized');
    if (caller.useIsStale) noteKeyUse(caller.keyId);
    ctx.state.caller = caller;
    ctx.state.accountId = caller.accountId;
    await next();
  };
}

/** The scheme's case does not count (RFC 9110, section 11.1). */
function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}
