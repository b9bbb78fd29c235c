import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createLiveCatalogue, type LiveCatalogue } from '../../../src/catalogue/file/live-catalogue.ts';
import { saveReportAndDeleteOld } from '../../../src/catalogue/models/worker-report-rows.ts';
import { silentEvents } from '../../support/service/metric-event-sinks.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { createTestOperator, dataOf, type TestOperator } from '../../support/service/operator-key.ts';
import { waitFor } from '../../support/wait-for.ts';

const startedAt = Date.now();
let folder: string;
let live: LiveCatalogue;
let service: HttpService;
let operator: TestOperator;

const catalogueOf = (credits: number) => `
providers:
  studio: { kind: openai-videos, dialect: generic, baseUrl: 'http://gpu1:8000/v1', key: { env: SECRET_STUDIO_KEY }, limit: 4, onLostJob: resubmit, failedJobs: free }
  backup: { kind: own, baseUrl: 'http://gpu2:9000/base', limit: 2 }
models:
  - model: film
    title: Film
    prices: [{ creditsPerSecond: ${credits} }]
    tiers: [[{ provider: studio, model: film-large, parameters: { extra: { token: hidden-parameter } } }], [{ provider: backup, model: film-small, weight: 3 }]]
  - model: clip
    title: Clip
    prices: [{ creditsPerVideo: 7 }]
    tiers: [[{ provider: backup, model: clip }]]
`;
const write = (text: string) => writeFile(join(folder, 'catalogue.yaml'), text);

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'videogen-catalogue-'));
  await write(catalogueOf(5));
  const log = { info: () => {}, error: () => {} };
  live = createLiveCatalogue({ path: join(folder, 'catalogue.yaml'), log, part: 'api', events: silentEvents });
  service = await startHttpService({ catalogue: live.current, catalogueState: live.state });
  operator = await createTestOperator(service);
});
after(async () => {
  await service.close();
  live.close();
  await rm(folder, { recursive: true });
});

const shown = () => dataOf(operator.ask('GET', '/api/admin/v1/catalogue'));
/** A change counts when two checks find the same; one that was under way when the file was written may have read the file before. */
const change = async (text: string) => {
  const earlier = JSON.stringify(live.state());
  await write(text);
  await waitFor('the reload', async () => {
    await live.check();
    return JSON.stringify(live.state()) !== earlier;
  });
};

test('200 the file, its version and time, models with prices and providers, and nothing secret', async () => {
  const { loadTime, version, ...others } = await shown();
  assert.match(String(version), /^[0-9a-f]{12}$/);
  assert.ok(Number(loadTime) >= startedAt && Number(loadTime) <= Date.now());
  assert.deepEqual(others, {
    path: join(folder, 'catalogue.yaml'),
    refused: null,
    workerRefusals: [],
    notSold: [],
    models: [
      {
        model: 'film',
        title: 'Film',
        deadlineMs: 1_800_000,
        prices: [{ name: 'standard', amounts: [{ creditsPerSecond: 5, creditsPerVideo: 0, fromTime: 0 }] }],
        providers: [
          { tier: 1, provider: 'studio', upstreamModel: 'film-large', limit: 4, weight: 1 },
          { tier: 2, provider: 'backup', upstreamModel: 'film-small', limit: 2, weight: 3 },
        ],
      },
      {
        model: 'clip',
        title: 'Clip',
        deadlineMs: 1_800_000,
        prices: [{ name: 'standard', amounts: [{ creditsPerSecond: 0, creditsPerVideo: 7, fromTime: 0 }] }],
        providers: [{ tier: 1, provider: 'backup', upstreamModel: 'clip', limit: 2, weight: 1 }],
      },
    ],
    providers: [
      { provider: 'preview', kind: 'preview', origin: null, models: 0 },
      { provider: 'studio', kind: 'openai-videos', origin: 'http://gpu1:8000', models: 1 },
      { provider: 'backup', kind: 'own', origin: 'http://gpu2:9000', models: 2 },
    ],
  });
  assert.ok(!/SECRET_STUDIO_KEY|hidden-parameter/.test(JSON.stringify(await shown())));
});

test('200 a refused reload with its problems; the version in force stays, until a valid file has another one', async () => {
  const first = await shown();
  await change(catalogueOf(-1));
  const second = await shown();
  assert.deepEqual([second['version'], second['loadTime']], [first['version'], first['loadTime']]);
  const { problems, time } = second['refused'] as { problems: string[]; time: number };
  assert.ok(time >= Number(first['loadTime']) && time <= Date.now());
  assert.match(problems.join(), /creditsPerSecond/);
  await change(catalogueOf(6));
  const third = await shown();
  assert.equal(third['refused'], null);
  assert.notEqual(third['version'], first['version']);
});

test('200 what live workers refused, and the models that none of them can generate', async () => {
  const report = { workerId: '019aabbb-0000-7000-8000-000000000000', models: [], refusal: 'no key' } as const;
  for (const workerId of [report.workerId, '019aabbb-0000-7000-8000-000000000001'])
    await saveReportAndDeleteOld(service.database.db, { ...report, workerId, queue: 'generation-remote' });
  const { workerRefusals, notSold } = await shown();
  assert.deepEqual([workerRefusals, notSold], [['no key'], ['film', 'clip']]);
});
