import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { streamCsvDownload, readPages } from '../../../src/api/core/csv-answer.ts';
import type { Context } from '../../../src/api/core/request-context-and-responses.ts';

/** Reads the numbers from 1 to `count`; `reads` are the rows after which a page was read. */
function numbers(count: number, pageSize: number) {
  const reads: (number | undefined)[] = [];
  const read = (last: number | undefined) => {
    reads.push(last);
    const rows = Array.from({ length: count }, (_, index) => index + 1).filter((row) => row > (last ?? 0));
    return Promise.resolve(rows.slice(0, pageSize));
  };
  return { read, reads };
}

for (const [count, maxRows, pages, reads] of [
  [0, undefined, [], [undefined]],
  [1, undefined, [[1]], [undefined]],
  [2, undefined, [[1, 2]], [undefined, 2]],
  [5, undefined, [[1, 2], [3, 4], [5]], [undefined, 2, 4]],
  [
    5,
    4,
    [
      [1, 2],
      [3, 4],
    ],
    [undefined, 2],
  ],
  [5, 2, [[1, 2]], [undefined]],
  [
    5,
    3,
    [
      [1, 2],
      [3, 4],
    ],
    [undefined, 2],
  ],
] as const) {
  test(`${count} rows, of which ${maxRows ?? 'all'} are read in pages of two, each after the last row of the one before`, async () => {
    const source = numbers(count, 2);
    const paging = { pageSize: 2, ...(maxRows !== undefined && { maxRows }) };
    const found: (readonly number[])[] = [];
    for await (const page of readPages(source.read, paging)) found.push(page);
    assert.deepEqual(found, pages);
    assert.deepEqual(source.reads, reads);
  });
}

test('a file has a name, a header line, and a line for each row of each page', async () => {
  const headers: Record<string, string> = {};
  // The part of a context that the function calls.
  const ctx = { set: (name: string, value: string) => void (headers[name] = value) } as unknown as Context;
  const columns = [
    ['number', (row: number) => row],
    ['note', (row: number) => (row === 2 ? '=1+1, "two"' : undefined)],
  ] as const;
  const file = await streamCsvDownload(ctx, 'numbers.csv', columns, [[1, 2], [], [3]]);
  assert.equal(await text(file), `number,note\r\n1,\r\n2,"'=1+1, ""two"""\r\n3,\r\n`);
  assert.deepEqual(headers, { 'Content-Disposition': 'attachment; filename="numbers.csv"' });
  assert.equal(await text(await streamCsvDownload(ctx, 'none.csv', columns, [])), 'number,note\r\n');
});
