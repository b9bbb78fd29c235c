import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { skipWithoutBrowser } from '../support/browser.ts';
import { axeFindings, type OperatorsStage, seed, startOperatorsStage } from './operators-stage.ts';

const skip = skipWithoutBrowser();

const pages = [
  ...['', '/accounts', '/prices', '/providers', '/tasks', '/callbacks', '/audit', '/people', '/people?tab=events'],
  '/settings',
];
const views = [
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 360, colorScheme: 'light' },
] as const;

describe('every page of the operators', { skip }, () => {
  let stage: OperatorsStage;
  before(async () => {
    stage = await startOperatorsStage();
  });
  after(() => stage.close());

  /** Opens the page in each size and theme; answers what is wrong with it. */
  const faultsAt = async (path: string) => {
    const { page, service } = stage;
    const faults: string[] = [];
    await page.goto(`${service.url}/console/ops${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('main [aria-busy="true"], main .skeleton').first().waitFor({ state: 'detached' });
    for (const { width, colorScheme } of views) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const findings = await axeFindings(page);
      const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      faults.push(...findings.map((one) => `${width} ${colorScheme} ${one}`));
      if (isTooWide) faults.push(`${width} ${colorScheme} scrolls sideways`);
    }
    return faults;
  };

  test('is without barriers and fits a phone while there is nothing to show', async () => {
    for (const path of pages) assert.deepEqual(await faultsAt(path), [], path);
  });

  test('is without barriers and fits a phone when filled', async () => {
    const { accountId, generating, failed } = await seed(stage.service);
    const tabs = ['ledger', 'tasks', 'prices', 'limits', 'keys', 'members'];
    const filled = [
      ...pages,
      ...tabs.map((tab) => `/accounts/${accountId}?tab=${tab}`),
      `/tasks/${generating}`,
      `/tasks/${failed}`,
    ];
    for (const path of filled) assert.deepEqual(await faultsAt(path), [], path);
  });

  test('says that an account or a task does not exist', async () => {
    const { page, service } = stage;
    await page.goto(`${service.url}/console/ops/accounts/019aabbb-0000-7000-8000-000000000000`);
    await page.getByRole('heading', { name: 'No such account' }).waitFor();
    await page.goto(`${service.url}/console/ops/tasks/no-id`);
    await page.getByRole('heading', { name: 'No such task' }).waitFor();
  });

  test('breaks no rule of its content security policy', () => {
    assert.deepEqual(
      stage.errors.filter((error) => !/status of 4\d\d/.test(error)),
      [],
    );
  });
});
