import { after, before, test } from 'node:test';
import { assertVaried, type Fuzz, startFuzz } from './fuzz-stage.ts';

// Enough requests to have found every planted fault; the bound on memory is in the file of the long tier.

let fuzz: Fuzz;
before(async () => {
  fuzz = await startFuzz();
});
after(() => fuzz.close());

test('malformed HTTP gets the envelope or nothing, and never a fault of ours', async () => {
  assertVaried(await fuzz.send('http', 31_677, 600), [200, 400, 401, 408]);
});

test('malformed JSON gets the envelope, and never a fault of ours', async () => {
  assertVaried(await fuzz.send('json', 31_677, 1_000), [200, 400, 422]);
});

test('what was accepted on the way is what was charged, the books add up, and the service still serves', async () => {
  await fuzz.assertSound();
  assertVaried(await fuzz.send('json', 1, 50), [200]);
});
