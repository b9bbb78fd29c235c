import type { Router } from '@koa/router';
import { z } from 'zod';
import { readBooks } from '../../stores/ledger.ts';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { ledgerEntrySchema, numberedPage, shownEntry } from '../ledger-entry-schema.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateQuery } from '../middleware/validate-query.ts';
import { keyFailures, type Operation } from '../operation.ts';
import { cutPage, nextCursorSchema, strictQuery } from '../page-query.ts';
import type { Context, Extras, RequestState, WithCaller, WithQuery } from '../request-state.ts';

const query = strictQuery(numberedPage);
type Query = z.output<typeof query>;

export const creditsOperation: Operation = {
  operationId: 'getCredits',
  method: 'get',
  path: '/api/v1/credits',
  tag: 'account',
  summary: 'The balance, and the ledger behind it',
  description: 'Entries are listed newest first; balance and entries are read at one and the same moment.',
  key: 'credits:read',
  query,
  data: z.strictObject({
    balance: z.int().nonnegative(),
    entries: z.array(ledgerEntrySchema),
    nextCursor: nextCursorSchema,
  }),
  failures: [...keyFailures, 'invalid_request'],
};

/** `GET /api/v1/credits`: the caller's balance and a page of its ledger. */
export function creditsRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get<WithCaller & WithQuery<Query>>(
    creditsOperation.path,
    checkAnswers(creditsOperation, deps.checkAnswers),
    authenticate(deps),
    limitReads(deps),
    requireScope('credits:read'),
    validateQuery(query),
    (ctx) => showCredits(ctx, deps),
  );
}

async function showCredits(ctx: Context<WithCaller & WithQuery<Query>>, { db }: HttpDeps): Promise<void> {
  const { cursor: before, limit } = ctx.state.query;
  const { accountId } = ctx.state.caller;
  const { balance, entries } = await readBooks(db, { accountId, before, limit: limit + 1 });
  const { page, last } = cutPage(entries, limit);
  succeed(ctx, {
    balance,
    entries: page.map(shownEntry),
    nextCursor: last === undefined ? null : String(last.entryId),
  });
}
