import { Readable } from 'node:stream';
import { z } from 'zod';
import { findAccount } from '../accounts/accounts.ts';
import type { Context } from '../http/context.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { existing, invalidRequest } from '../http/errors.ts';
import type { HttpDeps } from '../http/http-deps.ts';
import { idParameter, strictQuery, textParameter } from '../http/query.ts';
import { maxBookingLines, monthOf, readStatement } from './statement.ts';
import { statementCsv } from './statement-csv.ts';
import { statementHeaders, statementHtml } from './statement-view.ts';

const monthError = 'must be a month that has begun, such as 2026-01';
const month = textParameter(monthError)
  .regex(/^\d{4}-\d\d$/, { error: monthError })
  .meta({ description: 'A month in UTC.', example: '2026-01' });

type Given = { readonly ctx: Context; readonly accountId: string; readonly query: { readonly month: string } };

async function statementOf(
  { ctx, accountId, query }: Given,
  { db, now, brand }: HttpDeps,
  format: keyof typeof formats,
) {
  const requested = monthOf(query.month);
  if (requested === undefined || requested.fromMs > now())
    throw invalidRequest([{ path: 'month', message: monthError }]);
  const { render, headers, disposition } = formats[format];
  const text = render(await readStatement(db, { accountId, ...requested }), brand);
  ctx.set({ ...headers, 'Content-Disposition': `${disposition}; filename="statement-${requested.month}.${format}"` });
  return Readable.from([text]);
}

const about =
  'Returns the balance before the month, charges and refunds by model and price, each grant, redeemed code and adjustment, and the ' +
  `balance after it. Bookings beyond ${maxBookingLines} are one line. Until the month has ended, the last balance is the current one.`;

const formats = {
  csv: {
    render: statementCsv,
    headers: {},
    disposition: 'attachment',
    spec: {
      description: `${about} Text that a spreadsheet would read as a formula is prefixed with \`'\`.`,
      contentType: 'text/csv; charset=utf-8',
      answerHeaders: { 'Content-Disposition': 'The name of the file.' },
      data: z.custom<Readable>(),
    },
  },
  html: {
    render: statementHtml,
    headers: statementHeaders,
    disposition: 'inline',
    spec: {
      description: `${about} The page needs no other file, and is made for printing.`,
      contentType: 'text/html; charset=utf-8',
      answerHeaders: {
        'Content-Disposition': 'The name of the file.',
        ...Object.fromEntries(Object.keys(statementHeaders).map((name) => [name, 'Limits what a browser may do.'])),
      },
      data: z.custom<Readable>(),
    },
  },
} as const;

const ownCsv = defineEndpoint({
  operationId: 'getStatementCsv',
  route: 'GET /api/v1/credits/statement.csv',
  scope: 'credits:read',
  summary: 'Get the statement of a month as CSV',
  query: strictQuery({ month }),
  ...formats.csv.spec,
  handler: ({ caller: { accountId }, query, ctx }, deps) => statementOf({ ctx, accountId, query }, deps, 'csv'),
});

const ownHtml = defineEndpoint({
  operationId: 'getStatementHtml',
  route: 'GET /api/v1/credits/statement.html',
  scope: 'credits:read',
  summary: 'Get the statement of a month as a printable page',
  query: strictQuery({ month }),
  ...formats.html.spec,
  handler: ({ caller: { accountId }, query, ctx }, deps) => statementOf({ ctx, accountId, query }, deps, 'html'),
});

const ofAccount = strictQuery({ accountId: idParameter('an account'), month });

async function statementOfAccount(
  { ctx, query }: { readonly ctx: Context; readonly query: z.output<typeof ofAccount> },
  deps: HttpDeps,
  format: keyof typeof formats,
) {
  const { accountId } = existing(await findAccount(deps.db, query.accountId), 'account_not_found');
  return statementOf({ ctx, accountId, query }, deps, format);
}

const adminCsv = defineEndpoint({
  operationId: 'adminGetStatementCsv',
  route: 'GET /api/admin/v1/credits/statement.csv',
  summary: 'Get the statement of an account for a month as CSV',
  query: ofAccount,
  ...formats.csv.spec,
  failures: ['account_not_found'],
  handler: (call, deps) => statementOfAccount(call, deps, 'csv'),
});

const adminHtml = defineEndpoint({
  operationId: 'adminGetStatementHtml',
  route: 'GET /api/admin/v1/credits/statement.html',
  summary: 'Get the statement of an account for a month as a printable page',
  query: ofAccount,
  ...formats.html.spec,
  failures: ['account_not_found'],
  handler: (call, deps) => statementOfAccount(call, deps, 'html'),
});

export const statementEndpoints = [ownCsv, ownHtml];
export const operatorStatementEndpoints = [adminCsv, adminHtml];
