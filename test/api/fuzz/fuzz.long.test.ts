import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertVaried, type Fuzz, startFuzz } from './fuzz-stage.ts';

let fuzz: Fuzz;
before(async () => {
  fuzz = await startFuzz();
});
after(() => fuzz.close());

test('malformed HTTP gets the envelope or nothing, and leaves no memory behind', async () => {
  await fuzz.send('http', 31_676, 50);
  const rssBefore = process.memoryUsage().rss;
  assertVaried(await fuzz.send('http', 31_677, 600), [200, 400, 401, 408]);
  assertGrownBelow(100_000_000, rssBefore);
});

test('malformed JSON gets the envelope, and leaves no memory behind', async () => {
  await fuzz.send('json', 31_676, 50);
  const rssBefore = process.memoryUsage().rss;
  assertVaried(await fuzz.send('json', 31_677, 1_000), [200, 400, 422]);
  assertGrownBelow(100_000_000, rssBefore);
});

test('what was accepted on the way is what was charged, the books add up, and the service still serves', async () => {
  await fuzz.assertSound();
});

function assertGrownBelow(bytes: number, rssBefore: number): void {
  const grown = process.memoryUsage().rss - rssBefore;
  assert.ok(grown < bytes, `${grown} bytes`);
}
