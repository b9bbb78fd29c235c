import type { Actor } from '../../domain/operator.ts';
import { findOperator } from '../../stores/operators.ts';
import { requireBearerToken } from '../bearer-token.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import type { Context, Step, WithOperator } from '../request-state.ts';

/** Finds the operator by the key. A client's key, and one that is no good, get the answer that every bad key gets. */
export function authenticateOperator({ db, badKeys }: Pick<HttpDeps, 'db' | 'badKeys'>): Step<WithOperator> {
  return async (ctx, next) => {
    const key = requireBearerToken(ctx);
    badKeys.refuse(ctx.req, key);
    const operator = await findOperator(db, key);
    badKeys.note(ctx.req, key, operator !== undefined);
    if (operator === undefined) throw new HttpFailure('unauthorized');
    ctx.state.operator = operator;
    ctx.state.operatorId = operator.operatorId;
    await next();
  };
}

/** The operator of this request, as the audit log names it. */
export function actorOf({ state }: Context<WithOperator>): Actor {
  return { kind: 'operator', ...state.operator, requestId: state.requestId };
}
