import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import type { Page, Request } from 'playwright-core';
import sharp from 'sharp';
import { findAccount } from '../../../src/accounts/accounts.ts';
import { completeTask } from '../../../src/tasks/end/end-task-statements.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  draftHas,
  holdAnswers,
  signIn,
  startVisitor,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { acceptTestTask, madeUpMeasures, taskParam } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

// Answers that take their time: what is shown once is shown, what was typed meanwhile stays, and nobody is led back.

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

async function openPage(path: string) {
  const { accountId } = await service.newAccount(1_000);
  const tab = await visitor.signedIn({ [accountId]: 'owner' });
  await tab.page.goto(`${service.url}/console/a/${accountId}${path}`);
  return { ...tab, accountId };
}

type Secret = {
  readonly page: string;
  readonly path: string;
  readonly ask: (page: Page) => Promise<void>;
  readonly action: string;
};

const secrets: Readonly<Record<string, Secret>> = {
  'a new key': {
    page: '/keys',
    path: '/api/v1/keys',
    ask: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByLabel('Name').fill('another one');
    },
    action: 'Create key',
  },
  'a rotated key': {
    page: '/keys',
    path: '/api/v1/keys/rotate',
    ask: (page) => page.getByRole('button', { name: 'Rotate test' }).click(),
    action: 'Create new key',
  },
  'the callback secret': {
    page: '/callbacks',
    path: '/api/v1/callbacks/secret',
    ask: (page) => page.getByRole('button', { name: 'Reveal secret' }).click(),
    action: 'Reveal secret',
  },
  'a rotated callback secret': {
    page: '/callbacks',
    path: '/api/v1/callbacks/secret/rotate',
    ask: (page) => page.getByRole('button', { name: 'Rotate secret' }).click(),
    action: 'Rotate secret',
  },
  'a link of an invitation': {
    page: '/members',
    path: '/api/console/v1/members/invite',
    ask: async (page) => {
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      await page.getByLabel('E-mail').fill('carol@example.com');
    },
    action: 'Create link',
  },
};

for (const [what, { page: path, path: asked, ask, action }] of Object.entries(secrets)) {
  test(`the dialog that will show ${what} does not close before its answer is there`, { skip }, async () => {
    const { page, errors } = await openPage(path);
    await ask(page);
    const { asked: isAsked, release } = await holdAnswers(page, asked);
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: action }).click();
    await isAsked();
    await dialog.locator('[aria-busy="true"]').waitFor();
    // Chromium lets a page refuse the first Escape only.
    for (let count = 0; count < 3; count += 1) await page.keyboard.press('Escape');
    for (const name of ['Close', 'Cancel']) {
      const button = dialog.getByRole('button', { name, exact: true });
      await button.click({ force: true });
      assert.equal(await button.getAttribute('aria-disabled'), 'true');
    }
    await assertAccessible(page, `the dialog that waits for ${what}`);
    release();
    await dialog.locator('.secret code').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.deepEqual(errors, []);
  });
}

test('an answer about the session that is older than a sign-in does not end it', { skip }, async () => {
  const { accountId } = await service.newAccount(0);
  const email = await visitor.newPerson({ [accountId]: 'owner' });
  const { page } = await visitor.open();
  const { asked: isAsked, release } = await holdAnswers(page, '/api/console/v1/me');
  const sent = page.waitForRequest('**/api/console/v1/me');
  await page.goto(`${service.url}/console/sign-in`);
  await isAsked();
  const late = await sent;
  const isLate = (request: Request) => request === late;
  const ended = Promise.race([
    page.waitForEvent('requestfinished', isLate),
    page.waitForEvent('requestfailed', isLate),
  ]);
  await signIn(page, email);
  release();
  await ended;
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
});

test('an accepted video does not lead somebody back who has left the playground meanwhile', { skip }, async () => {
  const { page, accountId } = await openPage('/playground');
  const prompt = page.getByLabel('Prompt');
  await prompt.fill('a lighthouse');
  const first = await holdAnswers(page, '/api/v1/jobs/createTask');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await first.asked();
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('link', { name: 'a lighthouse' }).waitFor();
  first.release();
  await page.getByText('Task accepted').waitFor();
  await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
  assert.match(page.url(), /\/tasks$/);

  // It was answered, so the same request is another one now.
  await page.unroute('**/api/v1/jobs/createTask');
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  assert.equal(await prompt.inputValue(), 'a lighthouse');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByRole('link', { name: 'View task' }).waitFor();
  assert.equal((await findAccount(service.database.db, accountId))?.balance, 1_000 - 2 * 165);
});

test('a response that is lost after the playground was left does not call the next click safe', { skip }, async () => {
  const { page } = await openPage('/playground');
  await page.getByLabel('Prompt').fill('a lighthouse');
  let isSent = false;
  let lose: () => void = () => undefined;
  const isLost = new Promise<void>((resolve) => (lose = resolve));
  // The service accepts the task; its response does not arrive, as when the network breaks.
  await page.route('**/api/v1/jobs/createTask', async (route) => {
    await route.fetch();
    isSent = true;
    await isLost;
    await route.abort('connectionreset');
  });
  await page.getByRole('button', { name: /^Generate/ }).click();
  await waitFor('the request', () => isSent || undefined);
  await page.getByRole('link', { name: 'Tasks', exact: true }).click();
  await page.getByRole('link', { name: 'a lighthouse' }).waitFor();
  lose();
  const toast = page.getByRole('status').filter({ hasText: 'The video may have been started.' });
  await toast.waitFor();
  assert.match(await toast.innerText(), /Check Tasks before you generate it again\.$/);
});

test('a request without a response ends after a time, so its dialog can be closed', { skip }, async () => {
  const { page } = await openPage('/keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('lost on the way');
  // A network that swallows packets: the request neither arrives nor fails.
  await page.route('**/api/v1/keys', (route) => (route.request().method() === 'POST' ? undefined : route.continue()));
  await page.evaluate(`(() => {
    const plain = AbortSignal.timeout;
    AbortSignal.timeout = (ms) => plain.call(AbortSignal, ms === 60_000 ? 2_000 : ms);
  })()`);
  const dialog = page.getByRole('dialog', { name: 'Create an API key' });
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'No connection' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('a response that is lost while a video is open is reported within its viewer', { skip }, async () => {
  const { page, accountId } = await openPage('/tasks');
  const { db } = service.database;
  const taskId = await acceptTestTask(db, accountId, taskParam('a pier'));
  const keys = { videoKey: `results/${taskId}/video.mp4`, posterKey: `results/${taskId}/poster.jpg` };
  await completeTask(db, taskId, { ...madeUpMeasures, ...keys });
  await page.route('**/api/v1/gallery/label', (route) => route.abort('connectionreset'));
  await page.goto(`${service.url}/console/a/${accountId}/gallery`);
  await page.getByRole('button', { name: /^Open: a pier/ }).click();
  const viewer = page.getByRole('dialog', { name: 'Video', exact: true });
  await viewer.getByRole('button', { name: 'Favorite' }).click();
  await viewer.getByRole('status').getByText('The service did not respond').waitFor();
});

async function imageFile(name: string) {
  const create = { width: 400, height: 400, channels: 3, background: '#3a6ea5' } as const;
  return { name, mimeType: 'image/png', buffer: await sharp({ create }).png().toBuffer() };
}

test('an upload that ends leaves what was typed and chosen meanwhile', { skip }, async () => {
  const { page } = await openPage('/playground');
  const { asked: isAsked, release } = await holdAnswers(page, '/api/v1/uploads');
  await page.getByLabel('Files of reference images').setInputFiles([await imageFile('a.png')]);
  await isAsked();
  await page.getByLabel('Prompt').fill('typed while it was uploaded');
  await page.getByRole('slider', { name: /Length/ }).fill('7');
  await page.getByRole('button', { name: 'By URL' }).click();
  await page.getByLabel('URL of an image').fill('https://example.com/b.png');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  release();
  await page.getByRole('button', { name: 'Remove image 2' }).waitFor();
  await draftHas(page, 'https://example.com/b.png');
  for (const _look of ['at once', 'after a reload']) {
    assert.equal(await page.getByLabel('Prompt').inputValue(), 'typed while it was uploaded');
    assert.equal(await page.getByRole('slider', { name: /Length/ }).inputValue(), '7');
    assert.equal(await page.getByRole('button', { name: /^Remove image/ }).count(), 2);
    await page.reload();
    await page.getByRole('button', { name: 'Remove image 2' }).waitFor();
  }
});

test('an image that was uploaded is there although a later one of the same choice is refused', { skip }, async () => {
  const { page } = await openPage('/playground');
  const broken = { name: 'b.png', mimeType: 'image/png', buffer: Buffer.from('no picture') };
  await page.getByLabel('Files of reference images').setInputFiles([await imageFile('a.png'), broken]);
  await page.getByRole('alert').waitFor();
  await page.getByRole('button', { name: 'Remove image 1' }).waitFor();
});

test('nothing is generated while a file is uploaded or a URL is typed that it would lack', { skip }, async () => {
  const { page } = await openPage('/playground');
  const created: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/createTask')) created.push(request.postDataJSON());
  });
  const generate = (disabled: boolean) => page.getByRole('button', { name: /^Generate/, disabled });
  const prompt = page.getByLabel('Prompt');
  await prompt.fill('a lighthouse');
  const { asked: isAsked, release } = await holdAnswers(page, '/api/v1/uploads');
  await page.getByLabel('Files of reference images').setInputFiles([await imageFile('a.png')]);
  await isAsked();
  await generate(true).waitFor();
  await page.getByText('Wait until the upload has finished').last().waitFor();
  await prompt.press('Control+Enter');
  release();
  await page.getByRole('button', { name: 'Remove image 1' }).waitFor();
  await generate(false).waitFor();

  await page.getByRole('button', { name: 'By URL' }).click();
  const url = page.getByLabel('URL of an image');
  await url.fill('https://example.com/b.png');
  await generate(true).waitFor();
  await page.getByText('Add or clear the URL you typed').last().waitFor();
  await assertAccessible(page, 'a form that waits for a URL');
  await prompt.press('Control+Enter');
  await url.press('Control+Enter');
  await page.getByRole('button', { name: 'Remove image 2' }).waitFor();
  await generate(false).click();
  await page.getByRole('link', { name: 'View task' }).waitFor();
  // What the form sends.
  const [sent, ...others] = created as readonly { readonly input: { readonly imageUrls: readonly string[] } }[];
  assert.deepEqual([sent?.input.imageUrls.length, others], [2, []]);
});
