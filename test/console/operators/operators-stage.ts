import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import { auditLedger } from '../../../src/credits/ledger/ledger-audit.ts';
import { recordDeliveryAttempt } from '../../../src/tasks/callbacks/deliveries.ts';
import { exchangeOf } from '../../../src/tasks/callbacks/recorded-exchange.ts';
import { reserveSlot } from '../../../src/tasks/jobs/slots.ts';
import { intendReservedJob, recordCreatedJob } from '../../../src/tasks/jobs/job-creates.ts';
import { endProviderJob, freeSlotAndRecordCost, succeedProviderJob } from '../../../src/tasks/jobs/job-ends.ts';
import { completeTask, failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { recordQueuing, beginGenerationAttempt } from '../../../src/tasks/task-rows.ts';
import { startBrowser } from '../../support/console/browser.ts';
import { cookieFor, lasting, settled } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { newPerson, type Person } from '../../support/service/person.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';

/** A service with two providers that cost money, and a browser in which an operator is signed in. */
export type OperatorsStage = {
  readonly service: HttpService;
  readonly ada: Person;
  readonly page: Page;
  /** Whatever a page has complained about in its console. */
  readonly errors: readonly string[];
  /** A page of operators, opened by this person. */
  openAs(person: Person): Promise<Page>;
  close(): Promise<void>;
};

const catalogue = `
creditValue: { micros: 5000 }
providers:
  studio-gpu: { kind: openai-videos, dialect: generic, baseUrl: 'http://gpu1:8000/v1', limit: 4, onLostJob: resubmit, failedJobs: free }
  backup-gpu: { kind: openai-videos, dialect: generic, baseUrl: 'http://gpu2:8000/v1', limit: 2, onLostJob: resubmit, failedJobs: free }
models:
  - model: videogen-2.0
    title: Videogen 2.0
    prices: [{ creditsPerSecond: 41 }]
    tiers: [[{ provider: studio-gpu, model: film-large }]]
  - model: videogen-2.0-fast
    title: Videogen 2.0 Fast
    prices: [{ creditsPerSecond: 33 }]
    tiers: [[{ provider: studio-gpu, model: film-fast }], [{ provider: backup-gpu, model: film-fast }]]
`;

export async function startOperatorsStage(): Promise<OperatorsStage> {
  const read = readCatalogueOrThrow({ path: 'catalogue.yaml', readText: () => catalogue });
  const service = await startHttpService({
    catalogue: () => read,
    temporalUiUrl: 'http://temporal.test/namespaces/default/workflows',
    consoleMediaOrigins: ['http://media.test'],
  });
  const ada = await newPerson(service, { isOperator: true });
  let browser: Browser;
  try {
    browser = await startBrowser();
  } catch (error) {
    await service.close();
    throw error;
  }
  const errors: string[] = [];
  const openAs = async (person: Person) => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      // A colour that is on its way to another one has no contrast to judge.
      reducedMotion: 'reduce',
    });
    await context.addInitScript(lasting);
    const [, token = ''] = person.cookie()?.split('=') ?? [];
    await context.addCookies([cookieFor(service.url, token)]);
    // Where the service would have its files; the videos here were never made.
    await context.route('http://media.test/**', (route) => route.fulfill({ status: 404 }));
    const page = await context.newPage();
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(`${service.url}/console/ops`);
    await settled(page);
    return page;
  };
  return {
    service,
    ada,
    page: await openAs(ada),
    errors,
    openAs,
    close: async () => {
      await browser.close();
      await service.close();
    },
  };
}

export type SeededOperatorsStage = OperatorsStage & { readonly seeded: Seeded; readonly owner: Person };

/** With `seed`, and an owner of the seeded account. `close` fails if the ledger does not add up. */
export async function startSeededOperatorsStage(): Promise<SeededOperatorsStage> {
  const stage = await startOperatorsStage();
  const seeded = await seed(stage.service);
  const owner = await newPerson(stage.service, { roles: { [seeded.accountId]: 'owner' } });
  const close = async () => {
    const violations = await auditLedger(stage.service.database.db);
    await stage.close();
    assert.deepEqual(violations, []);
  };
  return { ...stage, seeded, owner, close };
}

type Seeded = {
  readonly accountId: string;
  readonly generating: string;
  readonly failed: string;
  readonly succeeded: string;
};

/** Accounts and tasks in every state, with upstream jobs of known and unknown cost, and a callback that failed. */
export async function seed({ database: { db } }: HttpService): Promise<Seeded> {
  const accountId = await createAccount(db, { name: 'Northlight Studio', credits: 25_000 });
  await createAccount(db, {
    name: 'A studio with a name that is so long that it has to break somewhere on a phone',
    credits: 0,
  });
  const accept = (prompt: string, callBackUrl?: string) =>
    acceptTestTask(db, accountId, taskParam(prompt, {}, callBackUrl));
  const job = async (taskId: string, ordinal: number, provider: string, micros?: number) => {
    const pool = `${provider}/film-fast`;
    await reserveSlot(db, { taskId, ordinal, accountId, pool, provider, limit: 4 });
    const cost = micros === undefined ? undefined : ({ micros, currency: 'USD', basis: 'estimated' } as const);
    await intendReservedJob(db, { taskId, ordinal, pool, configHash: 'a'.repeat(64), config: '{}', cost });
    await recordCreatedJob(db, { taskId, ordinal, jobId: `video_${taskId.slice(-8)}` });
    return { taskId, ordinal };
  };
  const begin = async (taskId: string) => {
    await recordQueuing(db, taskId);
    await beginGenerationAttempt(db, taskId);
  };
  const succeeded = await accept('A lighthouse in the fog, slow aerial shot, morning light over the water');
  await begin(succeeded);
  await freeSlotAndRecordCost(db, await job(succeeded, 1, 'studio-gpu', 210_000));
  await succeedProviderJob(db, succeeded);
  const [videoKey, posterKey] = [`results/${succeeded}/video.mp4`, `results/${succeeded}/poster.jpg`];
  await completeTask(db, succeeded, { ...madeUpMeasures, videoKey, posterKey });
  const failed = await accept('A crowd on a square at night', 'https://films.example.com/hooks/videogen');
  await begin(failed);
  const first = await job(failed, 1, 'studio-gpu');
  const failure = { failCode: 'provider_unavailable', failMsg: 'No provider of this model is available.' } as const;
  await endProviderJob(db, { ...first, outcome: 'fail' });
  await job(failed, 2, 'backup-gpu', 180_000);
  await failAndRefund(db, failed, failure);
  await recordDeliveryAttempt(db, {
    delivery: { deliveryId: failed, redeliveries: 0 },
    attempt: {
      startedAt: Date.now() - 40_000,
      durationMs: 310,
      status: 500,
      error: undefined,
      responseHead: Buffer.from('<h1>Internal error</h1>'),
      exchange: exchangeOf({ headers: {}, body: '{}' }, { headers: { server: 'nginx' }, isPublic: true }),
    },
    newState: { state: 'failed', dueAt: Date.now() },
  });
  const rejected = await accept('Something that a model refuses');
  await failAndRefund(db, rejected, { failCode: 'content_rejected', failMsg: 'The model refused the prompt.' });
  const generating = await accept('Paper boats on a river in the rain, close up');
  await begin(generating);
  await job(generating, 1, 'studio-gpu', 210_000);
  await accept('سفينة صغيرة في بحر هادئ عند الغروب');
  await accept(`A word that is far too long: ${'wonder'.repeat(40)}`);
  return { accountId, generating, failed, succeeded };
}

/** What an operator does on a page of the console, which may be opened later. */
export function actionsOn(stage: () => OperatorsStage) {
  const page = () => stage().page;
  const dialog = () => page().getByRole('dialog');
  const press = (name: string | RegExp) => page().getByRole('button', { name }).first().click();
  return {
    dialog,
    press,
    open: async (path: string) => {
      await page().goto(`${stage().service.url}/console${path}`);
      await page().getByRole('heading', { level: 1 }).waitFor();
    },
    dialogShows: (text: string | RegExp) => dialog().getByText(text).waitFor(),
    confirm: (name: string | RegExp) => dialog().getByRole('button', { name }).click(),
    /** From the menu of an account. */
    choose: async (item: string) => {
      await press('More actions');
      await page().getByRole('button', { name: item, exact: true }).click();
    },
    said: (text: string | RegExp) => page().getByRole('status').getByText(text).waitFor(),
    /** Waits until the audit log names the operator with each of these changes and reasons. */
    audited: async (changes: readonly (readonly [what: string, why: string])[]) => {
      for (const [what, why] of changes) {
        const row = page().getByRole('row').filter({ hasText: what }).filter({ hasText: why });
        await row.filter({ hasText: stage().ada.email }).first().waitFor();
      }
    },
  };
}
