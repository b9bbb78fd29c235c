import { Readable } from 'node:stream';
import { z } from 'zod';
import { csvLine } from '../../credits/reports/csv-line.ts';
import type { Context } from './request-context-and-responses.ts';

/** The parts that the declarations of all endpoints with CSV have in common. */
export const csvAnswerDeclaration = {
  contentType: 'text/csv; charset=utf-8',
  answerHeaders: { 'Content-Disposition': 'The name of the file.' },
  data: z.custom<Readable>(),
} as const;

export type CsvColumn<Row> = readonly [name: string, of: (row: Row) => string | number | undefined];
type Pages<Row> = Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>;

/** Streams rows as CSV with a header line. Sets the name of the file. */
export async function streamCsvDownload<Row>(
  ctx: Context,
  fileName: string,
  columns: readonly CsvColumn<Row>[],
  pages: Pages<Row>,
): Promise<Readable> {
  ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
  return Readable.from(linesOf(columns, pages));
}

async function* linesOf<Row>(columns: readonly CsvColumn<Row>[], pages: Pages<Row>): AsyncGenerator<string> {
  yield csvLine(columns.map(([name]) => name));
  for await (const page of pages) yield page.map((row) => csvLine(columns.map(([, of]) => of(row)))).join('');
}

type Paging = { readonly pageSize: number; readonly maxRows?: number };

/** Reads each page after the last row of the previous one. Holds no database connection between pages. */
export async function* readPages<Row>(
  read: (last: Row | undefined) => Promise<readonly Row[]>,
  { pageSize, maxRows = Infinity }: Paging,
): AsyncGenerator<readonly Row[]> {
  let last: Row | undefined;
  for (let rows = 0; rows < maxRows; rows += pageSize) {
    const page = await read(last);
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    last = page.at(-1);
  }
}
