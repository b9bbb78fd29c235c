import type { Router } from '@koa/router';
import { z } from 'zod';
import { findAccount } from '../../stores/accounts.ts';
import type { HttpDeps } from '../http-deps.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithCaller } from '../request-state.ts';
import { requireKie } from './require-kie.ts';
import { succeedWith } from './succeed-with.ts';

export const chatCreditOperation: Operation = {
  operationId: 'kieGetCredit',
  method: 'get',
  path: '/api/v1/chat/credit',
  tag: 'kie',
  summary: 'The balance, as a bare number',
  key: 'credits:read',
  data: z.int().nonnegative(),
  failures: [...keyFailures, 'dialect_required'],
};

/** `GET /api/v1/chat/credit`. */
export function chatCreditRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller>(
    chatCreditOperation.path,
    checkAnswers(chatCreditOperation, deps.checkAnswers),
    authenticate(deps),
    requireKie,
    limitReads(deps),
    requireScope('credits:read'),
    (ctx) => showCredit(ctx, deps),
  );
}

async function showCredit(ctx: Context<WithCaller>, { db }: HttpDeps): Promise<void> {
  const account = await findAccount(db, ctx.state.caller.accountId);
  if (account === undefined) throw new Error('a key belongs to an account that does not exist');
  succeedWith(ctx, account.balance);
}
