import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readRecordedCatalogue, recordCataloguePath } from '../../../src/run/embedded/recorded-catalogue-path.ts';
import { videogen } from '../../support/processes/run-videogen.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-catalogue-'));
});
after(() => rm(folder, { recursive: true }));

/** Nothing of an installation is there: no database, no keys of upstreams. */
const env = { PATH: process.env['PATH'] };

async function check(text: string, ...args: readonly string[]) {
  const path = join(folder, 'catalogue.yaml');
  await writeFile(path, text);
  return videogen(env, 'catalogue', 'check', path, ...args);
}

const valid = `
providers:
  hosted: { kind: http, file: 'builtin:runway', baseUrl: 'https://api.dev.runwayml.com', key: { env: RUNWAY_KEY }, limit: 5 }
models:
  - model: hosted
    title: A hosted model
    input:
      resolution: { values: [720p] }
      duration: { values: [5, 10] }
      ratio: { values: ['16:9'] }
      imageUrls: { max: 0 }
      generateAudio: { fixed: false }
    prices: [{ creditsPerSecond: 60 }]
    tiers: [[{ provider: hosted, model: gen4.5 }]]
`;

test('a catalogue is checked alone: what each model takes, costs and where it runs', async () => {
  const { code, stdout, stderr } = await check(valid);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /catalogue\.yaml is valid: 1 model\./);
  assert.match(stdout, /^ {2}costs 60 credits per second \(standard\)$/m);
  assert.match(
    stdout,
    /^ {2}runs at tier 1, hosted, http, https:\/\/api\.dev\.runwayml\.com, as gen4\.5, 5 at a time$/m,
  );
  assert.match(stdout, /^ {2}prompt +.*required/m);
  assert.doesNotMatch(stdout, /imageUrls/, 'a field that the model lacks');
  assert.match(stdout, /^ {2}generateAudio +(?:always )?false;/m);
});

test('an invalid one is refused with every problem, in JSON with --json, and wrong usage exits with 2', async () => {
  const { code, stderr } = await check(valid.replace('prices:', 'price:'));
  assert.equal(code, 1);
  assert.match(stderr, /models\[0\]\.price: unknown field, did you mean prices\?/);
  const json = await check(valid.replace('prices:', 'price:'), '--json');
  assert.match((JSON.parse(json.stdout) as { error: string }).error, /did you mean prices/);
  const wrong = await videogen(env, 'catalogue', 'check');
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  const wrongJson = await videogen(env, 'catalogue', 'check', '--json');
  assert.deepEqual([wrongJson.code, JSON.parse(wrongJson.stdout)], [2, { error: "missing required argument 'file'" }]);
});

test('a service records its catalogue for commands in another shell, and forgets it with the built-in one', async () => {
  await recordCataloguePath(folder, join(folder, 'catalogue.yaml'));
  assert.equal(readRecordedCatalogue(folder), join(folder, 'catalogue.yaml'));
  await recordCataloguePath(folder, undefined);
  assert.equal(readRecordedCatalogue(folder), undefined);
});
