import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { faultsOf } from './read-catalogue.ts';

const seed = 20_261_122;

const leaf = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const fieldNames =
  'model models providers tiers provider prices rules parameters kind key env file baseUrl cost durations workflow x'
    .split(' ')
    .concat(['creditsPerSecond', '__proto__', 'constructor']);
const words = ['preview', 'ark', 'comfyui', 'http', 'a', 'builtin:kie', './w.json', 'http://x', 'ARK_KEY', 'm', '1e5'];
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof({ depthSize: 'medium' }, leaf, fc.constantFrom(...words), tie('list'), tie('map')),
  list: fc.array(tie('tree'), { maxLength: 4 }),
  map: fc
    .array(fc.tuple(fc.constantFrom(...fieldNames), tie('tree')), { maxLength: 6 })
    .map((fields) => Object.fromEntries(fields)),
}));
const provider = fc.record(
  { kind: tree, baseUrl: tree, key: tree, file: tree, rules: tree, cost: tree },
  { requiredKeys: [] },
);
const entry = fc.record({ provider: tree, parameters: tree, rules: tree, model: tree }, { requiredKeys: [] });
const anyModel = fc.record(
  {
    model: tree,
    title: tree,
    aliases: tree,
    prices: tree,
    tiers: fc.array(fc.array(entry)),
    providers: tree,
  },
  { requiredKeys: [] },
);
const nearFile = fc.record({
  providers: fc.oneof(
    tree,
    fc.dictionary(fc.constantFrom('a', 'ark', 'preview', '__proto__'), fc.oneof(provider, tree)),
  ),
  models: fc.oneof(tree, fc.array(fc.oneof(anyModel, tree))),
});

test('any file is read or rejected with a ConfigError, and nothing else is thrown', () => {
  const check = (text: string) => {
    faultsOf(text, { '/etc/videogen/w.json': '{"1": {"class_type": "x"}}' });
  };
  fc.assert(
    fc.property(fc.oneof(nearFile, tree), (data) => check(JSON.stringify(data))),
    { seed, numRuns: 300 },
  );
  fc.assert(fc.property(fc.string({ maxLength: 200 }), check), { seed, numRuns: 200 });
  // The example with a piece cut out, doubled or replaced.
  const example = readFileSync('docs/catalogue.example.yaml', 'utf8');
  const place = fc.nat({ max: example.length });
  fc.assert(
    fc.property(
      place,
      place,
      fc.oneof(fc.constantFrom('', '*', '&a ', '!', ': ', '\t', '{', ']', '"', '- '), fc.string()),
      (a, b, piece) => check(example.slice(0, Math.min(a, b)) + piece + example.slice(Math.max(a, b) - 40)),
    ),
    { seed, numRuns: 200 },
  );
});
