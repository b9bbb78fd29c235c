import { Readable } from 'node:stream';
import { z } from 'zod';
import { findAccount } from '../../accounts/accounts.ts';
import { readAccountOfCaller } from '../core/authentication.ts';
import { type Context, answerStream, type AppRouter } from '../core/request-context-and-responses.ts';
import { csvAnswerDeclaration } from '../core/csv-answer.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { requireExisting, invalidRequest } from '../core/http-error.ts';
import type { Brand } from '../../platform/brand/brand.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { idParameter, strictQuery, textParameter } from '../core/query-parameters.ts';
import {
  maxBookingLines,
  monthOf,
  readStatement,
  type AccountStatement,
  sumSections,
} from '../../credits/reports/account-statement.ts';
import { statementCsv } from '../../credits/reports/statement-csv.ts';
import { statementHeaders, statementHtml } from './statement-page.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { validate as isUuid } from 'uuid';
import { buildConsoleHeaders } from '../console/console-headers.ts';
import { limitOtherRequests, type RateLimiter } from '../core/limits/rate-limits.ts';
import { authenticateLinkVisitor, type SessionDeps } from '../sign-in/authenticate-session.ts';

const section = z.string().meta({
  description:
    '`top_up`, `top_up_reversal` (returned payments), `grant`, `code` (redeemed codes), `charge`, `refund` or `adjustment`.',
});
const credits = z.int().meta({ description: 'Signed.' });

const lineSchema = z
  .strictObject({
    section,
    model: z.string().nullable().meta({ description: 'Only for charges and refunds.' }),
    priceName: z.string().nullable().meta({ description: 'Only for charges and refunds.' }),
    bookTime: unixMsSchema
      .nullable()
      .meta({ description: 'Only for other entries; null for the sum of further entries.' }),
    reason: z.string().nullable(),
    entries: z.int().positive(),
    credits,
  })
  .meta({ id: 'StatementLine' });

const statementSchema = z
  .strictObject({
    month: z.string(),
    fromTime: unixMsSchema,
    toTime: unixMsSchema.meta({ description: 'The start of the next month.' }),
    createTime: unixMsSchema,
    isFinal: z.boolean().meta({ description: 'False while entries may still be added.' }),
    firstMonth: z.string().meta({ description: 'The month in which the account was created.' }),
    opening: z.int().meta({ description: 'The balance before the month.' }),
    closing: z.int().meta({ description: 'The balance after the month, or the current one.' }),
    sections: z.array(z.strictObject({ section, entries: z.int(), credits })),
    lines: z.array(lineSchema),
  })
  .meta({ id: 'Statement' });

export function presentStatement(
  statement: AccountStatement,
  { accountCreatedAt }: { readonly accountCreatedAt: number },
) {
  const { month, fromMs: fromTime, toMs: toTime, createdAt: createTime, isFinal, opening, closing } = statement;
  const lines = statement.lines.map(({ bookedAt: bookTime, ...line }) =>
    pickRowFieldsBySchema(lineSchema, { ...line, bookTime }),
  );
  const firstMonth = new Date(accountCreatedAt).toISOString().slice(0, 7);
  const sections = [...sumSections(statement)];
  return { month, fromTime, toTime, createTime, isFinal, firstMonth, opening, closing, sections, lines };
}

const monthError = 'must be a month that has begun, such as 2026-01';
const monthParameter = textParameter(monthError)
  .regex(/^\d{4}-\d\d$/, { error: monthError })
  .meta({ description: 'A month in UTC.', example: '2026-01' });

type Requested = { readonly accountId: string; readonly query: { readonly month: string } };
type Given = Requested & { readonly ctx: Context };
type StatementFormat = keyof typeof statementFormats;

type ReadDeps = WithDb & WithClock;
type StatementDeps = ReadDeps & { readonly brand: Brand };

function readRequested({ accountId, query }: Requested, { db, now }: ReadDeps) {
  const requested = monthOf(query.month);
  if (requested === undefined || requested.fromMs > now())
    throw invalidRequest([{ path: 'month', message: monthError }]);
  return readStatement(db, { accountId, ...requested });
}

/** The statement as a file. Sets the headers of the response. */
async function statementFile({ ctx, ...requested }: Given, deps: StatementDeps, format: StatementFormat) {
  const { render, headers, disposition } = statementFormats[format];
  const statement = await readRequested(requested, deps);
  const text = render(statement, deps.brand);
  ctx.set({ ...headers, 'Content-Disposition': `${disposition}; filename="statement-${statement.month}.${format}"` });
  return Readable.from([text]);
}

const about =
  'Returns the balance before the month, charges and refunds by model and price, each grant, redeemed code and adjustment, and the ' +
  `balance after it. Bookings beyond ${maxBookingLines} are one line. Until the month has ended, the last balance is the current one.`;

const statementFormats = {
  csv: {
    render: statementCsv,
    headers: {},
    disposition: 'attachment',
    spec: {
      description: `${about} Text that a spreadsheet would read as a formula is prefixed with \`'\`.`,
      ...csvAnswerDeclaration,
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
  query: strictQuery({ month: monthParameter }),
  data: statementSchema,
  handler: async ({ caller, query }, deps: ReadDeps) => {
    const { accountId, createdAt } = await readAccountOfCaller(deps.db, caller);
    return presentStatement(await readRequested({ accountId, query }, deps), { accountCreatedAt: createdAt });
  },
});

function ownFile(format: StatementFormat, operationId: string, summary: string) {
  return defineEndpoint({
    operationId,
    route: `GET /api/v1/credits/statement.${format}`,
    scope: 'credits:read',
    summary,
    query: strictQuery({ month: monthParameter }),
    ...statementFormats[format].spec,
    handler: ({ caller: { accountId }, query, ctx }, deps: StatementDeps) =>
      statementFile({ ctx, accountId, query }, deps, format),
  });
}

function adminFile(format: StatementFormat, operationId: string, summary: string) {
  return defineEndpoint({
    operationId,
    route: `GET /api/admin/v1/credits/statement.${format}`,
    summary,
    query: strictQuery({ accountId: idParameter('an account'), month: monthParameter }),
    ...statementFormats[format].spec,
    failures: ['account_not_found'],
    handler: async ({ ctx, query }, deps: StatementDeps) => {
      const { accountId } = requireExisting(await findAccount(deps.db, query.accountId), 'account_not_found');
      return statementFile({ ctx, accountId, query }, deps, format);
    },
  });
}

export const statementEndpoints = [
  ownData,
  ownFile('csv', 'getStatementCsv', 'Get the statement of a month as CSV'),
  ownFile('html', 'getStatementHtml', 'Get the statement of a month as a printable page'),
];
export const operatorStatementEndpoints = [
  adminFile('csv', 'adminGetStatementCsv', 'Get the statement of an account for a month as CSV'),
  adminFile('html', 'adminGetStatementHtml', 'Get the statement of an account for a month as a printable page'),
];

const address = /^\/console\/a\/([^/]+)\/statements\/(\d{4}-\d\d)\.(csv|html)$/;

type LinkDeps = SessionDeps & StatementDeps & { readonly reads: RateLimiter | undefined };

/**
 * Statements at addresses below the account's pages, so that a browser opens them in a tab, prints and saves them. A visitor without
 * access gets the page of the console, which offers to sign in or explains what is missing.
 */
export function addConsoleStatementRoute(router: AppRouter, deps: LinkDeps): void {
  router.get(address, async (ctx) => {
    const [, accountId = '', month = '', extension] = address.exec(ctx.path) ?? [];
    const visitor = isUuid(accountId) ? await authenticateLinkVisitor(ctx, deps, accountId) : undefined;
    if (visitor === undefined) return ctx.redirect(`/console/a/${accountId}/credits?tab=statements`);
    limitOtherRequests(ctx, deps.reads, visitor.session.userId);
    ctx.set(buildConsoleHeaders([]));
    const format = extension === 'csv' ? 'csv' : 'html';
    const file = await statementFile({ ctx, accountId, query: { month } }, deps, format);
    answerStream(ctx, file, statementFormats[format].spec.contentType);
  });
}
