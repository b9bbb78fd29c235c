import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpoints } from '../../src/api/endpoints.ts';

// A schema's own bounds are in openapi.json, which test/api/openapi.test.ts compares. These are bounds that JSON Schema has no word for.

const id = '019abc12-3456-7def-8901-234567890abc';
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`).join();
const bidi = 'a\u202eb';

type Values = readonly unknown[];
const cases: readonly (readonly [operationId: string, field: string, accepted: Values, refused: Values])[] = [
  ['previewUploads', 'urls', ['u1', addresses(50)], ['', addresses(51)]],
  ['adminListAccounts', 'search', ['', 'a b', 'x'.repeat(200)], ['a\nb', bidi, 'x'.repeat(201)]],
  ['adminListPrices', 'model', ['a', 'Vendor/m_1.0-x', 'x'.repeat(100)], ['', 'a b', 'a:b', 'x'.repeat(101)]],
  ['adminListPrices', 'cursor', ['1', '9007199254740991'], ['0', '-1', 'x', '9007199254740992']],
  ['listVideos', 'limit', ['1', '100'], ['0', '101', '1.5', '']],
  ['listVideos', 'favorite', ['true', 'false'], ['1', 'yes', '']],
  ['listVideos', 'cursor', [id], ['1', 'x']],
  ['labelVideos', 'addTags', [['a'], [], null], [[''], [' '], [bidi], ['\u0130'.repeat(40)], ['x'.repeat(41)]]],
  ['adminAdjustCredits', 'amount', [1, -1, 1e12, -1e12], [0, 0.5, 1e12 + 1, -1e12 - 1, '1']],
  ['adminAdjustCredits', 'reason', ['x', 'x'.repeat(500)], ['', ' ', 'a\nb', bidi, 'x'.repeat(501)]],
];

for (const [operationId, field, accepted, refused] of cases) {
  test(`${operationId} bounds ${field}`, () => {
    const { query, body } = endpoints.find((one) => one.operationId === operationId) ?? assert.fail(operationId);
    const schema = query ?? body ?? assert.fail('it takes nothing');
    const isRefused = (value: unknown) =>
      schema.safeParse({ [field]: value }).error?.issues.some(({ path }) => path[0] === field) ?? false;
    for (const value of accepted) assert.equal(isRefused(value), false, `${JSON.stringify(value)} is accepted`);
    for (const value of refused) assert.equal(isRefused(value), true, `${JSON.stringify(value)} is refused`);
  });
}
