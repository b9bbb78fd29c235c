import { Readable } from 'node:stream';
import { z } from 'zod';
import { findAccount } from '../../accounts/accounts.ts';
import { requireOwnAccount } from '../core/authentication.ts';
import type { Context } from '../core/context.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { existing, invalidRequest } from '../core/http-error.ts';
import type { Brand } from '../../platform/brand/brand.ts';
import type { WithClock, WithDb } from '../core/endpoint.ts';
import { idParameter, strictQuery, textParameter } from '../core/query-parameters.ts';
import { maxBookingLines, monthOf, readStatement } from '../../credits/reports/account-statement.ts';
import { statementCsv } from '../../credits/reports/statement-csv.ts';
import { presentStatement, statementSchema } from './statement-data-view.ts';
import { statementHeaders, statementHtml } from './statement-page.ts';

const monthError = 'must be a month that has begun, such as 2026-01';
const month = textParameter(monthError)
  .regex(/^\d{4}-\d\d$/, { error: monthError })
  .meta({ description: 'A month in UTC.', example: '2026-01' });

type Requested = { readonly accountId: string; readonly query: { readonly month: string } };
type Given = Requested & { readonly ctx: Context };
export type StatementFormat = keyof typeof statementFormats;

type ReadDeps = WithDb & WithClock;
export type StatementDeps = ReadDeps & { readonly brand: Brand };

function readRequested({ accountId, query }: Requested, { db, now }: ReadDeps) {
  const requested = monthOf(query.month);
  if (requested === undefined || requested.fromMs > now())
    throw invalidRequest([{ path: 'month', message: monthError }]);
  return readStatement(db, { accountId, ...requested });
}

/** The statement as a file. Sets the headers of the response. */
export async function statementFile({ ctx, ...requested }: Given, deps: StatementDeps, format: StatementFormat) {
  const { render, headers, disposition } = statementFormats[format];
  const statement = await readRequested(requested, deps);
  const text = render(statement, deps.brand);
  ctx.set({ ...headers, 'Content-Disposition': `${disposition}; filename="statement-${statement.month}.${format}"` });
  return Readable.from([text]);
}

const about =
  'Returns the balance before the month, charges and refunds by model and price, each grant, redeemed code and adjustment, and the ' +
  `balance after it. Bookings beyond ${maxBookingLines} are one line. Until the month has ended, the last balance is the current one.`;

export const statementFormats = {
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

const ownData = defineEndpoint({
  operationId: 'getStatement',
  route: 'GET /api/v1/credits/statement',
  scope: 'credits:read',
  summary: 'Get the statement of a month',
  description: about,
  query: strictQuery({ month }),
  data: statementSchema,
  handler: async ({ caller, query }, deps: ReadDeps) => {
    const { accountId, createdAt } = await requireOwnAccount(deps.db, caller);
    return presentStatement(await readRequested({ accountId, query }, deps), { accountCreatedAt: createdAt });
  },
});

const ownCsv = defineEndpoint({
  operationId: 'getStatementCsv',
  route: 'GET /api/v1/credits/statement.csv',
  scope: 'credits:read',
  summary: 'Get the statement of a month as CSV',
  query: strictQuery({ month }),
  ...statementFormats.csv.spec,
  handler: ({ caller: { accountId }, query, ctx }, deps: StatementDeps) =>
    statementFile({ ctx, accountId, query }, deps, 'csv'),
});

const ownHtml = defineEndpoint({
  operationId: 'getStatementHtml',
  route: 'GET /api/v1/credits/statement.html',
  scope: 'credits:read',
  summary: 'Get the statement of a month as a printable page',
  query: strictQuery({ month }),
  ...statementFormats.html.spec,
  handler: ({ caller: { accountId }, query, ctx }, deps: StatementDeps) =>
    statementFile({ ctx, accountId, query }, deps, 'html'),
});

const ofAccount = strictQuery({ accountId: idParameter('an account'), month });

async function statementOfAccount(
  { ctx, query }: { readonly ctx: Context; readonly query: z.output<typeof ofAccount> },
  deps: StatementDeps,
  format: StatementFormat,
) {
  const { accountId } = existing(await findAccount(deps.db, query.accountId), 'account_not_found');
  return statementFile({ ctx, accountId, query }, deps, format);
}

const adminCsv = defineEndpoint({
  operationId: 'adminGetStatementCsv',
  route: 'GET /api/admin/v1/credits/statement.csv',
  summary: 'Get the statement of an account for a month as CSV',
  query: ofAccount,
  ...statementFormats.csv.spec,
  failures: ['account_not_found'],
  handler: (call, deps: StatementDeps) => statementOfAccount(call, deps, 'csv'),
});

const adminHtml = defineEndpoint({
  operationId: 'adminGetStatementHtml',
  route: 'GET /api/admin/v1/credits/statement.html',
  summary: 'Get the statement of an account for a month as a printable page',
  query: ofAccount,
  ...statementFormats.html.spec,
  failures: ['account_not_found'],
  handler: (call, deps: StatementDeps) => statementOfAccount(call, deps, 'html'),
});

export const statementEndpoints = [ownData, ownCsv, ownHtml];
export const operatorStatementEndpoints = [adminCsv, adminHtml];
