import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { JsonObject, JsonValue } from '../../../src/platform/text/json.ts';
import {
  compileExpression,
  type Expression,
  ExpressionError,
} from '../../../src/catalogue/providers/jsonata-expression.ts';
import {
  createPrioritizedReaders,
  type ExpressionReader,
} from '../../../src/providers/http/evaluate-expressions-by-priority.ts';

async function value(text: string, data: JsonObject = {}): Promise<JsonValue | undefined> {
  return await compileExpression(text).evaluate(data);
}

describe('an expression', () => {
  const cases: readonly (readonly [text: string, data: JsonObject, expected: JsonValue | undefined])[] = [
    ['body.data.id', { body: { data: { id: 'x' } } }, 'x'],
    ['body.data.id', { body: [] }, undefined],
    ['$fromJson(body).urls[0]', { body: '{"urls":["a"]}' }, 'a'],
    ['$fromJson(body)', { body: '{"urls":' }, undefined],
    ['$fromJson(body)', {}, undefined],
    ['$snakeKeys(body)', { body: { cfgScale: 1, fps: 2 } }, { cfg_scale: 1, fps: 2 }],
    ['$snakeKeys(body)', {}, undefined],
    ["{ 'all': [images.url], 'none': nothing }", { images: [{ url: 'a' }] }, { all: ['a'] }],
    ['count > 0 ? [images.url]', { count: 0, images: [] }, undefined],
    ['$map([1, 2], function($n) { $n + 1 })', {}, [2, 3]],
    ['function($n) { $n }', {}, undefined],
    ['( $sum := 1; $sum )', {}, 1],
    ['body.results[prompt = $$.prompt].id', { prompt: 'b', body: { results: [{ prompt: 'b', id: 2 }] } }, 2],
  ];
  for (const [text, data, expected] of cases) {
    test(`${text} of ${JSON.stringify(data)} is ${JSON.stringify(expected)}`, async () => {
      assert.deepEqual(await value(text, data), expected);
    });
  }
});

/** One call of each function of JSONata that expressions have, with its result as JSONata documents it; `body` is {"a":1,"b":2}. */
const calls: Readonly<Record<string, JsonValue>> = {
  '$string(1)': '1',
  "$length('ab')": 2,
  "$substring('abc', 1)": 'bc',
  "$substringBefore('a-b', '-')": 'a',
  "$substringAfter('a-b', '-')": 'b',
  "$lowercase('Ab')": 'ab',
  "$uppercase('Ab')": 'AB',
  "$trim(' a ')": 'a',
  "$contains('ab', 'b')": true,
  "$split('a,b', ',')": ['a', 'b'],
  "$replace('aa', 'a', 'b')": 'bb',
  "$encodeUrlComponent('a b/')": 'a%20b%2F',
  "$number('2.5')": 2.5,
  '$floor(1.6)': 1,
  '$ceil(1.4)': 2,
  '$round(1.6)': 2,
  '$abs(-1)': 1,
  '$sum([1, 2])': 3,
  '$count([5, 6])': 2,
  '$max([1, 2])': 2,
  '$min([1, 2])': 1,
  '$boolean(1)': true,
  '$not(true)': false,
  '$exists(body)': true,
  '$type(1)': 'number',
  '$map([1, 2], function($n) { $n + 1 })': [2, 3],
  '$filter([1, 2, 3], function($n) { $n > 1 })': [2, 3],
  '$single([1, 2], function($n) { $n > 1 })': 2,
  '$keys(body)': ['a', 'b'],
  "$lookup(body, 'b')": 2,
  '$append([1], [2])': [1, 2],
  '$reverse([1, 2])': [2, 1],
  "$merge([body, { 'b': 3 }])": { a: 1, b: 3 },
  "$toMillis('1970-01-01T00:00:01.000Z')": 1_000,
};

test('an expression has the functions of JSONata that take no longer than their arguments', async () => {
  for (const [call, expected] of Object.entries(calls))
    assert.deepEqual(await value(call, { body: { a: 1, b: 2 } }), expected, call);
});

describe('the expressions of a file', () => {
  const slow = compileExpression('( $f := function($n) { $n = 0 ? 0 : $f($n - 1) }; $f(150) )');
  const quick = compileExpression('id');

  /** No evaluation exceeds its limit, however slow the machine is. */
  const freeze = (t: TestContext) => t.mock.timers.enable({ apis: ['Date'] });

  /** The order in which twenty slow evaluations, and a quick one that is requested after them, end. */
  async function orderOf(first: ExpressionReader, last: ExpressionReader): Promise<readonly (JsonValue | undefined)[]> {
    const ended: (JsonValue | undefined)[] = [];
    const note = async (reader: ExpressionReader, expression: Expression) =>
      void ended.push(await reader.value('field', expression, { id: 'quick' }));
    await Promise.all([...Array.from({ length: 20 }, () => note(first, slow)), note(last, quick)]);
    return ended;
  }

  test('follow each other, and none takes from the steps of another', async (t) => {
    freeze(t);
    const { others } = createPrioritizedReaders(() => assert.fail('an evaluation failed'));
    assert.deepEqual(await orderOf(others, others), [...Array.from({ length: 20 }, () => 0), 'quick']);
  });

  test('of a create come before those of polls that wait', async (t) => {
    freeze(t);
    const { creates, others } = createPrioritizedReaders(() => assert.fail('an evaluation failed'));
    assert.equal((await orderOf(others, creates)).indexOf('quick'), 1);
  });

  test('are not delayed by those of another file', async (t) => {
    freeze(t);
    const [{ others: busy }, { others: idle }] = [
      createPrioritizedReaders(() => {}),
      createPrioritizedReaders(() => {}),
    ];
    assert.equal((await orderOf(busy, idle)).indexOf('quick'), 0);
  });
});

test('an expression whose process was held up between its steps still has its value, for a paid job may hang on it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  let reads = 0;
  const heldUp = {
    get id() {
      reads += 1;
      if (reads === 1) t.mock.timers.tick(60_000);
      return 'x';
    },
  };
  assert.equal(await value('id & id & id', heldUp), 'xxx');
  assert.ok(reads > 3, 'the first evaluation was over time');
});

describe('at load an expression is refused', () => {
  const cases: readonly (readonly [what: string, text: string, fault: RegExp])[] = [
    ['with an unfinished sentence', 'body.', /at character 5/],
    ['with a pattern', 'prompt ~> /(a+)+b/', /at character 18: patterns are not allowed/],
    ['with $eval', "$eval('1')", /at character 5: \$eval: unknown function/],
    ['with $eval as a value', '$map(body, $eval)', /\$eval: unknown function/],
    ['with a typo', '$substringbefore(a, b)', /did you mean substringBefore\?/],
    ['with a range', '[1..1000000]', /ranges are not allowed/],
    ['with a change of data', "body ~> |a|{'b': 1}|", /not allowed/],
    ['with two faults, and both are told', '$a(1) + $b(2)', /\$a: .*; .*\$b: /],
    ['that is too long', '1'.repeat(4001), /at most 4000 characters/],
    ['that is nested too deeply', '('.repeat(1990) + ')'.repeat(1990), /.+/],
    ['that is nested too deeply, and would be right', `${'('.repeat(1990)}1${')'.repeat(1990)}`, /nested too deeply/],
  ];
  for (const [what, text, fault] of cases) {
    test(what, () => {
      assert.throws(() => compileExpression(text), { name: 'ExpressionError', message: fault });
    });
  }

  test('without the words of it that could be a secret', () => {
    const secret = 'sk-0123456789abcdef';
    assert.throws(
      () => compileExpression(`{ 'key': '${secret}' '${secret}' }`),
      (error) => error instanceof ExpressionError && !error.message.includes(secret),
    );
  });
});

describe('an evaluation ends without a value', () => {
  const nested = (levels: number): JsonValue => (levels === 0 ? 1 : [nested(levels - 1)]);
  const long = 'a'.repeat(200_000);
  const tree = Array.from({ length: 300 }, (_, n) => ({ n, x: { y: { z: [1, 2, 3] } } }));
  const cases: readonly (readonly [what: string, text: string, data?: JsonObject])[] = [
    ['in a loop', '( $f := function($n) { $f($n) }; $f(1) )'],
    ['in a recursion', '( $f := function($n) { 1 + $f($n) }; $f(1) )'],
    ['with a text that doubles', "( $f := function($t) { $f($t & $t) }; $f('aaaa') )"],
    ['with a list that doubles', '( $f := function($l) { $f($append($l, $l)) }; $f([1]) )'],
    [
      'with a list in a list, twice each time',
      '( $f := function($l, $n) { $n = 0 ? $l : $f([[$l], [$l]], $n - 1) }; $f(1, 60) )',
    ],
    [
      'with a field in a field, twice each time',
      "( $f := function($l, $n) { $n = 0 ? $l : $f({'a': $l, 'b': $l}, $n - 1) }; $f(1, 40) )",
    ],
    ['with a text that a replacement makes long', "$replace(body, 'a', body)", { body: long }],
    ['with a list of all characters of a long text', "$split(body, '').($$.body)", { body: long }],
    ['with data that are nested deeply', 'body', { body: nested(5000) }],
    ['with data that are nested deeply, as a text', '$string(body)', { body: nested(5000) }],
    ['with a field in data that are nested deeply', 'body.a.b', { body: nested(5000) }],
    ['with every part of every part of the data', 'body.**.**.**.**', { body: tree }],
    ['with a variable that is named like a function, before it has a value', '( $eval; $eval := 1; $eval(1) )'],
    ['with a wrong type', '$number(body)', { body: 'ten' }],
  ];
  for (const [what, text, data] of cases) {
    test(what, async () => {
      await assert.rejects(value(text, data), { name: 'ExpressionError' });
    });
  }

  test('and does not repeat data', async () => {
    await assert.rejects(
      value('$number(body)', { body: 'ten' }),
      (error) => error instanceof ExpressionError && !error.message.includes('ten'),
    );
  });
});

test('the longest expression and the deepest value are taken, and one character or level more is not', async () => {
  const nested = (levels: number): JsonObject => (levels === 0 ? {} : { a: nested(levels - 1) });
  assert.deepEqual(await value('body', { body: nested(98) }), nested(98));
  await assert.rejects(value('body', { body: nested(99) }), /deeper than 100 levels/);
  assert.equal(compileExpression(`'${'a'.repeat(3_998)}'`).text.length, 4_000);
  assert.throws(() => compileExpression(`'${'a'.repeat(3_999)}'`), /at most 4000 characters/);
});
