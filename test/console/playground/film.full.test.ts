import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { createTask } from '../../support/service/call-api.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { becomes, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let receiver: CallbackReceiver;
let visitor: Visitor;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  receiver = await startCallbackReceiver({ answer: () => 500 });
  visitor = await startVisitor(service);
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await receiver.close();
  await service.close();
});

/** The film runs in a circle, and says when it is loaded anew. */
const play = `(() => {
  const film = document.querySelector('video');
  Object.assign(film, { muted: true, loop: true });
  window.loads = 0;
  film.addEventListener('loadstart', () => { window.loads += 1; });
  return film.play();
})()`;

/** Where the film of a task can be played: on the page of its account, and on that of operators. */
const pages = [
  {
    who: 'a viewer',
    where: (accountId: string) => `/a/${accountId}/tasks`,
    operator: false,
    reads: '/api/v1/jobs/timeline',
  },
  { who: 'an operator', where: () => '/ops/tasks', operator: true, reads: '/api/admin/v1/tasks/show' },
];

/** A task that has ended, and somebody who opens its page. */
async function stage({ where, operator }: (typeof pages)[number], request: { callBackUrl?: string } = {}) {
  const { accountId, key } = await createTestAccount(service.database, 1_000);
  const film = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a boat', duration: 4 } };
  const { body } = await createTask({ ...service, key }, { ...film, ...request });
  const taskId = String(body.data['taskId']);
  await waitForEnd(service.database.db, taskId);
  const tab = await visitor.signedIn(operator ? {} : { [accountId]: 'viewer' }, { operator });
  return { ...tab, open: () => tab.open(`${where(accountId)}/${taskId}`) };
}

for (const at of pages) {
  test(
    `a film that ${at.who} plays goes on while its page is read again, though each reading signs other links`,
    { skip },
    async () => {
      // As long as the callback is owed, the page asks for it.
      const { page, errors, open } = await stage(at, { callBackUrl: `${receiver.url}/hook` });
      await page.clock.install();
      let readings = 0;
      // The service signs the same link as before when it is read in the same second.
      await page.route(`**${at.reads}?*`, async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replaceAll(/\.(?:mp4|jpg)\?/g, (start) => `${start}reading=${readings}&`);
        readings += 1;
        await route.fulfill({ response, body });
      });
      await open();
      const film = page.getByLabel('The generated video');
      await film.waitFor();
      await page.evaluate(play);
      const addresses = () => Promise.all(['src', 'poster'].map((name) => film.getAttribute(name)));
      const first = await addresses();
      // A page whose callback is owed is read every three seconds.
      await waitFor('three readings', async () => {
        await page.clock.fastForward(3_000);
        return readings >= 3 ? true : undefined;
      });
      assert.deepEqual(await addresses(), first);
      assert.deepEqual(await page.evaluate('[window.loads, document.querySelector("video").paused]'), [0, false]);
      assert.deepEqual(errors, []);
    },
  );

  test(`a film that does not play gets a fresh link once, for ${at.who}`, { skip }, async () => {
    const { page, open } = await stage(at);
    const asked: string[] = [];
    await page.route('**/video-*.mp4?*', (route) => {
      asked.push(route.request().url());
      return asked.length === 1 ? route.fulfill({ status: 403 }) : route.continue();
    });
    // In the same second a link is signed as before.
    await page.route(`**${at.reads}?*`, async (route) => {
      const answer = await route.fetch();
      const text = await answer.text();
      await route.fulfill({ response: answer, body: text.replaceAll('.mp4?', `.mp4?reading=${asked.length}&`) });
    });
    await open();
    await waitFor('a film that plays', async () => {
      const width = await page.evaluate('document.querySelector("video")?.videoWidth ?? 0');
      return width === 1280 ? true : undefined;
    });
    assert.match(asked[0] ?? '', /reading=0/);
    assert.match(asked.at(-1) ?? '', /reading=1/);
  });
}

test('a poster whose link no longer works gets the link of the next read', { skip }, async () => {
  const { accountId, key } = await createTestAccount(service.database, 1_000);
  const film = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a poster', duration: 4 } };
  const { body } = await createTask({ ...service, key }, film);
  await waitForEnd(service.database.db, String(body.data['taskId']));
  const { page, open } = await visitor.signedIn({ [accountId]: 'viewer' });
  await page.clock.install();
  const asked: string[] = [];
  await page.route(/\.jpg\?/, (route) => {
    asked.push(route.request().url());
    return asked.length === 1 ? route.fulfill({ status: 403 }) : route.continue();
  });
  // In the same second a link is signed as before.
  let readings = 0;
  await page.route('**/api/v1/jobs/listTasks?*', async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replaceAll('.jpg?', `.jpg?reading=${readings}&`);
    readings += 1;
    await route.fulfill({ response, body: text });
  });
  await open(`/a/${accountId}/tasks`);
  await waitFor('a poster that is shown', async () => {
    await page.clock.fastForward(16_000);
    const isShown = '(document.querySelector(".poster img")?.naturalWidth ?? 0) > 0';
    return (await page.evaluate<boolean>(isShown)) ? true : undefined;
  });
  assert.match(asked[0] ?? '', /reading=0/);
  assert.doesNotMatch(asked.at(-1) ?? '', /reading=0/);
});

test(
  'a model has its price, limits, sample and request on a page, which leads to the playground with it',
  { skip },
  async () => {
    const { accountId } = await createTestAccount(service.database, 1_000);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'viewer' });
    await open(`/a/${accountId}`);
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('listitem').filter({ hasText: '33 credits per second of video' }).waitFor();
    await page.getByRole('link', { name: 'Standard video generation' }).click();
    await page
      .getByRole('table', { name: 'Prices of Standard video generation' })
      .getByText('41 credits per second')
      .waitFor();
    const input = page.getByRole('region', { name: 'Input' });
    for (const limit of [
      'Up to 5,000 characters, required',
      '4 to 15 s, default 5 s',
      'Up to 9 images, uploads up to 10 MB',
    ])
      await input.getByText(limit).waitFor();
    await page.getByText('No AI model made this video.').waitFor();
    const isReady = () => page.evaluate<boolean>(`document.querySelector('video').readyState > 0`);
    await becomes('the sample is loaded', isReady, true);
    await page.getByRole('tab', { name: 'Python' }).click();
    await page.getByRole('tabpanel').getByText('"model": "videogen-2.0"').waitFor();
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('radio', { name: 'Standard video generation', checked: true }).waitFor();
    await open(`/a/${accountId}/models/none`);
    await page.getByRole('heading', { name: 'Model not found' }).waitFor();
    assert.deepEqual(errors, []);
  },
);
