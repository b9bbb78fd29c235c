import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Tier, tierOf, tiers } from '../support/tier.ts';

// docs/testing.md names the file that proves each guarantee, and its tier. A renamed or moved file must not make it wrong.

const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
const withoutSuffix = (file: string) => file.replace(/(?:\.full|\.long)?\.test\.ts$/, '');
const rows = readFileSync('docs/testing.md', 'utf8')
  .slice(readFileSync('docs/testing.md', 'utf8').indexOf('## Guarantees'))
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, guarantee, home]) => home !== undefined && guarantee !== 'guarantee' && !/^-+$/.test(home))
  .map(([, guarantee = '', homes = '', tier = '', samples = '']) => ({
    guarantee,
    homes: homes.split(', '),
    tier,
    samples: samples === '' ? [] : samples.split(', ').map((sample) => sample.replace(/ \(.*$/, '')),
  }));

test('each guarantee of docs/testing.md has its home in a file of the tier that it names', () => {
  assert.ok(rows.length > 50, 'the tables were read');
  const wrong = rows.flatMap(({ guarantee, homes, tier }) => {
    const stated = tier.split(', ').filter((one): one is Tier => tiers.some((known) => known === one));
    // A file may have siblings of the same name in other tiers, which hold its expensive tests.
    const isProvenBy = (home: string) =>
      files.some((file) => withoutSuffix(file) === home && stated.includes(tierOf(file)));
    return homes.filter((home) => !isProvenBy(home)).map((home) => `${guarantee}: ${home} is not in ${tier}`);
  });
  assert.deepEqual(wrong, []);
});

test('the samples that docs/testing.md names are test files or folders of them', () => {
  const isKnown = (sample: string) => files.some((file) => file.startsWith(sample));
  const unknown = rows.flatMap(({ guarantee, samples }) =>
    samples
      .filter((sample) => /^[a-z][\w/-]*$/.test(sample) && !isKnown(sample))
      .map((sample) => `${guarantee}: ${sample}`),
  );
  assert.deepEqual(unknown, []);
});
