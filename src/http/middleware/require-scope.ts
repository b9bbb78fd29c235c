import type { Scope } from '../../domain/api-key.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Step, WithCaller } from '../request-state.ts';

/** Refuses a key that was made without this scope. Comes after `authenticate`. */
export function requireScope(scope: Scope): Step<WithCaller> {
  return async (ctx, next) => {
    if (!ctx.state.caller.scopes.includes(scope)) {
      throw new HttpFailure('scope_missing', { msg: `the API key lacks the scope ${scope}` });
    }
    await next();
  };
}
