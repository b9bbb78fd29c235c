import { Readable } from 'node:stream';
import { z } from 'zod';
import { type BooksFilter, type LedgerEntry, ledgerKinds, readBooks } from '../../credits/ledger/credits.ts';
import { csvLine } from '../../credits/reports/csv-line.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { maxUnixMs, oneOf } from '../core/request-fields.ts';
import { idParameter, strictQuery, wholeParameter } from '../core/query-parameters.ts';

export const booksFilter = {
  kind: oneOf(ledgerKinds).optional(),
  taskId: idParameter('a task').meta({ description: 'The charge and refund of this task.' }).optional(),
  from: wholeParameter(0, maxUnixMs).meta({ description: 'Booked at this Unix millisecond or later.' }).optional(),
  to: wholeParameter(0, maxUnixMs).meta({ description: 'Booked before this Unix millisecond.' }).optional(),
};

const maxRows = 1_000_000;
const pageSize = 2_000;

export const exportCredits = defineEndpoint({
  operationId: 'exportCredits',
  route: 'GET /api/v1/credits/export',
  scope: 'credits:read',
  summary: 'Export the ledger as CSV',
  description:
    `Returns UTF-8 with a header line, newest entry first, at most ${maxRows} entries. Times are ISO 8601 in UTC. Text that a spreadsheet ` +
    "would read as a formula is prefixed with `'`.",
  query: strictQuery(booksFilter),
  contentType: 'text/csv; charset=utf-8',
  answerHeaders: { 'Content-Disposition': 'The name of the file.' },
  data: z.custom<Readable>(),
  handler: ({ caller: { accountId }, query, ctx }, { db }) => {
    const { from: fromMs, to: toMs, kind, taskId } = query;
    ctx.set('Content-Disposition', 'attachment; filename="credits.csv"');
    return Promise.resolve(Readable.from(csvOf(db, { accountId, kind, taskId, fromMs, toMs, limit: pageSize })));
  },
});

const columns: readonly (readonly [name: string, of: (entry: LedgerEntry) => string | number | undefined])[] = [
  ['entryId', ({ entryId }) => entryId],
  ['createTime', ({ createdAt }) => new Date(createdAt).toISOString()],
  ['kind', ({ kind }) => kind],
  ['amount', ({ amount }) => amount],
  ['balanceAfter', ({ balanceAfter }) => balanceAfter],
  ['taskId', ({ taskId }) => taskId],
  ['priceName', ({ priceName }) => priceName],
  ['reason', ({ reason }) => reason],
];

/** Holds no database connection between pages. */
async function* csvOf(db: Database, filter: BooksFilter): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  let before: number | undefined;
  for (let rows = 0; rows < maxRows; rows += pageSize) {
    const { entries } = await readBooks(db, { ...filter, before });
    if (entries.length > 0) yield entries.map((entry) => csvLine(columns.map(([, of]) => of(entry)))).join('');
    before = entries.at(-1)?.entryId;
    if (entries.length < pageSize) return;
  }
}
