import fc from 'fast-check';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HttpError } from '../../../../src/api/core/http-error.ts';
import { maxJsonDepth, refuseUnsafeJson } from '../../../../src/api/core/server/read-or-save-body-within-limits.ts';
import { runs } from '../../../support/property.ts';

/** What a text is refused with, undefined when it is not. */
function findJsonFault(text: string): (Pick<HttpError, 'code'> & { msg: string }) | undefined {
  try {
    refuseUnsafeJson(text);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return { code: error.code, msg: error.envelope.msg };
  }
}

for (const [text, path] of [
  ['{"a":1,"a":1}', 'a'],
  ['{ "a" : 1 , "b" : {} , "a" : 2 }', 'a'],
  ['{"a":{"b":1,"c":[],"b":2}}', 'a.b'],
  ['{"a":[{},{"b":1},{"b":1,"b":2}]}', 'a[2].b'],
  ['{"a":[[0,{"b":1,"b":2}]]}', 'a[0][1].b'],
  ['{"a":"{","b":"\\"","a":1}', 'a'],
  ['{"a\\\\":1,"b":"\\\\","a\\\\":2}', 'a\\'],
  ['{"a":1,"\\u0061":2}', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"":1,"":2}', ''],
] as const) {
  test(`a key that is given twice is named: ${text}`, () => {
    const msg = `the key ${path} is given twice; give it once`;
    assert.deepEqual(findJsonFault(text), { code: 'duplicate_json_key', msg });
  });
}

for (const text of [
  '{}',
  '{"a":{"a":{"a":1}},"b":{"a":1}}',
  '{"a":[{"a":1},{"a":1}]}',
  '{"a":["b","b",{},"b"],"b":"a"}',
  '{"a":"a","b":"a","A":"a"}',
  '{"a":"\\"a\\":1,\\"a\\":2"}',
  '{"a":"\\\\","b":"{\\"b\\":1}"}',
  '{"toString":1,"constructor":2,"__proto__":{"toString":3}}',
  '{"a":"\\ud83c\\udfac","b":"\\\\u0000"}',
]) {
  test(`no key is given twice: ${text}`, () => {
    assert.equal(findJsonFault(text), undefined);
  });
}

test('whatever JSON.stringify writes has no fault, and a key that is added once more is found', () => {
  const anyObject = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 5 }), { minKeys: 1 });
  fc.assert(
    fc.property(anyObject, fc.nat(), fc.constantFrom(undefined, 2, '\t'), (value, nth, space) => {
      const text = JSON.stringify(value, undefined, space);
      fc.pre(!/\\u0000|\\ud[89a-f]/.test(text));
      assert.equal(findJsonFault(text), undefined);
      const names = Object.keys(value);
      const name = names[nth % names.length] ?? '';
      const twice = `${text.slice(0, text.lastIndexOf('}'))},${JSON.stringify(name)}:0}`;
      assert.equal(findJsonFault(twice)?.code, 'duplicate_json_key', twice);
    }),
    runs(2_000),
  );
});

test('values may be nested so deep and no deeper, in arrays and in objects', () => {
  const arrays = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
  for (const nested of [arrays, objects]) {
    assert.equal(findJsonFault(nested(maxJsonDepth)), undefined);
    const tooDeep = { code: 'invalid_request', msg: `the body is nested deeper than ${maxJsonDepth} levels` };
    assert.deepEqual(findJsonFault(nested(maxJsonDepth + 1)), tooDeep);
    assert.deepEqual(findJsonFault(nested(20_000)), tooDeep);
  }
});

test('brackets in strings and closed brackets do not count as levels', () => {
  const brackets = '[{'.repeat(maxJsonDepth);
  const lists = Array.from({ length: 100 }, () => [{}]);
  const text = JSON.stringify({ a: brackets, [`"${brackets}`]: `\\${brackets}"`, lists });
  assert.equal(findJsonFault(text), undefined);
});

test('the time to check a body grows with its length alone', () => {
  const [largest, parts] = [256 * 1024, 64];
  // The values are long, so that no body exceeds the maximum number of values.
  const value = `"${'x'.repeat(20)}"`;
  const bodies = (size: number) => [
    `{"a":[${`${value},`.repeat(size / 32)}""]}`,
    `{"a":"${'\\\\'.repeat(size / 2)}"}`,
    `{"a":"${'\\"'.repeat(size / 2)}"}`,
    `{${Array.from({ length: size / 32 }, (_, i) => `"${i}":${value}`).join()}}`,
    `{"a":[${`{"b":${value}},`.repeat(size / 32)}{}]}`,
  ];
  const short = bodies(largest / parts);
  for (const [index, text] of bodies(largest).entries()) {
    const [whole, inParts] = [leastCpu(text, 1), leastCpu(short[index] ?? '', parts)];
    // A time that grew with the square would be 64 times as long.
    assert.ok(whole < 8 * inParts, `${whole} µs, and ${inParts} µs in parts, for ${text.slice(0, 20)}`);
  }
});

/** The microseconds of CPU for some bodies, at the best of five times: the machine does other work, too. */
function leastCpu(text: string, count: number): number {
  const measured = Array.from({ length: 5 }, () => {
    const startedAt = process.cpuUsage();
    for (let n = 0; n < count; n += 1) assert.equal(findJsonFault(text), undefined);
    const { user, system } = process.cpuUsage(startedAt);
    return user + system;
  });
  return Math.min(...measured);
}
