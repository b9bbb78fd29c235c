import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  settled,
  tryAgain,
  windows,
} from '../../support/console/console-visitor.ts';
import { operatorPages } from '../../support/console/console-pages.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type OperatorsStage, seed, startOperatorsStage } from './operators-stage.ts';

const skip = skipWithoutBrowser();

describe('every page of the operators', { skip }, () => {
  let stage: OperatorsStage;
  before(async () => {
    stage = await startOperatorsStage();
  });
  after(() => stage.close());

  /** In each size and theme; the colours of the other windows are checked on the tokens by contrast.test.ts. */
  const assertFit = async (paths: readonly string[]) => {
    const { page, service } = stage;
    for (const path of paths) {
      await page.goto(`${service.url}/console${path}`);
      await settled(page);
      for (const [name, { viewport, colorScheme }] of Object.entries(windows)) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        if (name === 'light' || runsWholeMatrix) await assertAccessible(page, `${path}, ${name}`);
        await assertNoSidewaysScroll(page, `${path}, ${name}`);
      }
    }
  };

  test('is without barriers and fits a phone while there is nothing to show', () =>
    assertFit(Object.values(operatorPages)));

  test('is without barriers and fits a phone when filled', async () => {
    const { accountId, generating, failed } = await seed(stage.service);
    await assertFit([
      ...Object.values(operatorPages),
      ...['ledger', 'tasks', 'prices', 'limits', 'keys', 'members'].map(
        (tab) => `/ops/accounts/${accountId}?tab=${tab}`,
      ),
      `/ops/tasks/${generating}`,
      `/ops/tasks/${failed}`,
    ]);
  });

  test('says that an account or a task does not exist', async () => {
    const { page, service } = stage;
    await page.goto(`${service.url}/console/ops/accounts/019aabbb-0000-7000-8000-000000000000`);
    await page.getByRole('heading', { name: 'Account not found' }).waitFor();
    await page.goto(`${service.url}/console/ops/tasks/no-id`);
    await page.getByRole('heading', { name: 'Task not found' }).waitFor();
  });

  test('says what went wrong when the service answers nothing, and tries again', async () => {
    const { page, service } = stage;
    await page.route('**/api/admin/v1/**', (route) => route.abort());
    await page.clock.install();
    const personal: readonly string[] = ['/ops/profile', '/ops/security'];
    for (const path of Object.values(operatorPages).filter((one) => !personal.includes(one))) {
      await page.goto(`${service.url}/console${path}`);
      const message = page.getByRole('alert').getByText('No connection').first();
      // The page retries a failed request after pauses before it shows the failure.
      await waitFor(`the failure of ${path}`, async () => {
        await page.clock.fastForward(1_000);
        return (await message.isVisible()) || undefined;
      });
    }
    await tryAgain(page, page, '**/api/admin/v1/**');
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
  });

  test('breaks no rule of its content security policy', () => {
    assert.deepEqual(
      stage.errors.filter((error) => !/status of 4\d\d|net::ERR_FAILED/.test(error)),
      [],
    );
  });
});
