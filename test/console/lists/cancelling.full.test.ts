import { after, afterEach, before, test } from 'node:test';
import { failAndRefund } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, taskParam } from '../../support/tasks/tasks.ts';

// A user cancels tasks. Temporal is a fake here and starts no workflow, so no task ends before a test ends it.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService();
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

test('a waiting task says how many of its own are ahead, and is cancelled with its refund', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const { db } = service.database;
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) ids.push(await acceptTestTask(db, accountId, taskParam(`film ${n}`)));
  const { page } = await visitor.signedIn({ [accountId]: 'member' });
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${ids.at(-1)}`);
  await page.getByText('3 of your tasks are ahead in the queue.').waitFor();
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${ids[1]}`);
  await page.getByText('1 of your tasks is ahead in the queue.').waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel task' }).click();
  const receipt = page.getByRole('region', { name: 'Receipt' });
  await receipt.getByRole('heading', { name: 'Cancelled' }).waitFor();
  await receipt.getByText('+132').waitFor();
  await receipt.getByText('0 credits').waitFor();
});

test('a cancel that fails is reported in its dialog, which stays', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a film'));
  const { page } = await visitor.signedIn({ [accountId]: 'member' });
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${taskId}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.route('**/api/v1/jobs/cancelTask', (route) => route.abort('connectionreset'));
  const dialog = page.getByRole('dialog', { name: 'Cancel this task?' });
  await dialog.getByRole('button', { name: 'Cancel task' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
  await page.unroute('**/api/v1/jobs/cancelTask');
  await dialog.getByRole('button', { name: 'Cancel task' }).click();
  await page.getByRole('heading', { name: 'Task Cancelled' }).waitFor();
});

test('the dialog of a cancel stays while its task ends, and says that it had ended', { skip }, async () => {
  const { accountId } = await service.newAccount(1_000);
  const taskId = await acceptTestTask(service.database.db, accountId, taskParam('a film'));
  const { page } = await visitor.signedIn({ [accountId]: 'member' });
  await page.goto(`${service.url}/console/a/${accountId}/tasks/${taskId}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await failAndRefund(service.database.db, taskId, { failCode: 'timeout', failMsg: 'too long' });
  await page.getByRole('region', { name: 'Receipt' }).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel task' }).click();
  await page.getByText('The task had already ended').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});
