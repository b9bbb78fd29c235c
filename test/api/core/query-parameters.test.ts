import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { z } from 'zod';
import {
  booleanParameter,
  createdBetweenParameters,
  cutPage,
  dayParameter,
  idPageParameters,
  numericIdPageParameters,
  timedCursorText,
  timedPageParameters,
} from '../../../src/api/core/query-parameters.ts';
import { maxUnixMs } from '../../../src/api/core/request-fields.ts';

const id = '019abc12-3456-7def-8901-234567890abc';

/** The value that a parameter has; undefined for a text that is refused. */
const read = (schema: z.ZodType, text: unknown) => schema.safeParse(text).data;

test('a page has 1 to 100 rows, by default 20', () => {
  const limits = [undefined, '1', '100', '0', '101', '1.5', '-1', '', ' 5', '1e1', ['1', '2']];
  assert.deepEqual(
    limits.map((text) => read(idPageParameters.limit, text)),
    [20, 1, 100, ...limits.slice(3).map(() => undefined)],
  );
});

test('a cursor is read as it was written, and nothing else is one', () => {
  const cursor = { atUs: 1_793_491_200_123_456, id };
  assert.deepEqual(read(timedPageParameters.cursor, timedCursorText(cursor)), cursor);
  for (const text of ['', id, '1', `1_${id}x`, `x1_${id}`, `-1_${id}`, '1_2', `1_${id.toUpperCase()}`])
    assert.equal(read(timedPageParameters.cursor, text), undefined, text);
  assert.deepEqual(
    ['1', '9007199254740991', '0', '9007199254740992', 'x'].map((text) => read(numericIdPageParameters.cursor, text)),
    [1, Number.MAX_SAFE_INTEGER, undefined, undefined, undefined],
  );
  assert.equal(read(idPageParameters.cursor, id), id);
  assert.equal(read(idPageParameters.cursor, 'x'), undefined);
});

test('days, times and truths have one spelling', () => {
  const days = ['1970-01-01', '2026-01-31', '1969-12-31', '0000-01-01', '2026-02-30', '2026-1-31', '20260131'];
  assert.deepEqual(
    days.map((text) => read(dayParameter, text)),
    [...days.slice(0, 2), ...days.slice(2).map(() => undefined)],
  );
  for (const time of [createdBetweenParameters.from, createdBetweenParameters.to])
    assert.deepEqual(
      ['0', String(maxUnixMs), String(maxUnixMs + 1), '-1'].map((text) => read(time, text)),
      [0, maxUnixMs, undefined, undefined],
    );
  assert.deepEqual(
    ['true', 'false', 'yes', '1', ['true', 'true']].map((text) => read(booleanParameter, text)),
    [true, false, undefined, undefined, undefined],
  );
});

test('a page has a next one only if a row more was found', () => {
  assert.deepEqual(cutPage([1, 2, 3], 2, String), { page: [1, 2], nextCursor: '2' });
  assert.deepEqual(cutPage([1, 2], 2, String), { page: [1, 2], nextCursor: null });
  assert.deepEqual(cutPage([], 2, String), { page: [], nextCursor: null });
});
