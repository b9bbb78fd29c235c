import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { bookCredits } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { createCodesAs, redeemCode } from '../../../src/credits/ledger/redemption-codes.ts';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser, startBrowser } from '../../support/console/browser.ts';
import { type HttpService, plainRequest, startHttpService } from '../../support/service/http-service.ts';
import { shell } from '../../support/service/person.ts';
import { runAsSuperuser } from '../../support/processes/run-as-superuser.ts';

const skip = skipWithoutBrowser();
let service: HttpService;
let browser: Browser;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  browser = await startBrowser();
});
after(async () => {
  if (skip !== false) return;
  await browser.close();
  await service.close();
});

/** An account with a name full of markup, and more lines than a page holds. */
async function newBooks(): Promise<string> {
  const { accountId, key } = await service.newAccount(1_000_000);
  const { db } = service.database;
  const taskId = String((await service.create(key, plainRequest)).json.data['taskId']);
  await service.create(key, { ...plainRequest, model: 'videogen-2.0' });
  await failAndRefund(db, taskId, { failCode: 'timeout', failMsg: 'It took too long.' });
  await bookCredits(db, {
    accountId,
    kind: 'adjustment',
    amount: -30,
    reason: `<img src=x onerror="alert(1)"> ${'long '.repeat(80)}`,
  });
  const { codes } = await createCodesAs(db, shell, { name: 'spring', credits: 500, codes: 60 });
  for (const code of codes) await redeemCode(db, accountId, code);
  const at = `timestamptz '2026-01-05T10:00:00Z'`;
  await runAsSuperuser(
    service.database,
    `update accounts set name = 'Harbor & Sons <b onclick="alert(1)">Films</b> ${'very '.repeat(25)}long' where id = '${accountId}'`,
    `update ledger_entries set created_at = ${at} where account_id = '${accountId}'`,
    `update tasks set created_at = ${at} where account_id = '${accountId}'`,
  );
  return key;
}

test(
  'the page is styled under its own policy, runs and loads nothing, fits its paper and prints',
  { skip },
  async () => {
    const key = await newBooks();
    const context = await browser.newContext({ extraHTTPHeaders: { authorization: `Bearer ${key}` } });
    const page = await context.newPage();
    const complaints: string[] = [];
    const requested: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
    const url = `${service.url}/api/v1/credits/statement.html?month=2026-01`;
    // A4 at 96 dpi, without its margins.
    await page.setViewportSize({ width: 658, height: 987 });
    await page.goto(url);
    assert.equal(await page.locator('h1').innerText(), 'Statement for January 2026');
    assert.match(await page.locator('dd').first().innerText(), /^Harbor & Sons <b onclick="alert\(1\)">Films<\/b>/);
    assert.equal(await page.locator('b, img, script').count(), 0);
    const alignment = await page.evaluate(`getComputedStyle(document.querySelector('.number')).textAlign`);
    assert.equal(alignment, 'right', 'the style applies');
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate(overflow), 0);
    const pdf = await page.pdf({ preferCSSPageSize: true });
    assert.ok((pdf.toString('latin1').match(/\/Type \/Page\b/g) ?? []).length > 1, 'the lines fill several pages');
    assert.deepEqual(complaints, []);
    assert.deepEqual(requested, [url]);
    await context.close();
  },
);
