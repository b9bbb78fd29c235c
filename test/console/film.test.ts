import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTask } from '../support/api.ts';
import { skipWithoutBrowser } from '../support/browser.ts';
import { type CallbackReceiver, startCallbackReceiver } from '../support/callback-receiver.ts';
import { startVisitor, type Visitor } from '../support/console.ts';
import { createTestAccount, startTestService, type TestService } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

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

test(
  'a film that plays goes on while its page is read again, though each reading signs another link',
  { skip },
  async () => {
    const { accountId, key } = await createTestAccount(service.database, 1_000);
    const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a boat', duration: 4 } };
    // As long as the callback is owed, the page asks for it.
    const { body } = await createTask({ ...service, key }, { ...request, callBackUrl: `${receiver.url}/hook` });
    const taskId = String(body.data['taskId']);
    await waitForEnd(service.database.db, taskId);
    const { page, errors } = await visitor.signedIn({ [accountId]: 'viewer' });
    const links = new Set<string>();
    page.on('response', (response) => {
      if (new URL(response.url()).pathname !== '/api/v1/jobs/timeline') return;
      void response.text().then((text) => {
        const [link] = /"https?:[^"]+\.mp4\?[^"]+"/.exec(text) ?? [];
        if (link !== undefined) links.add(link);
      });
    });
    await page.goto(`${service.baseUrl}/console/a/${accountId}/tasks/${taskId}`);
    const film = page.getByLabel('The generated video');
    await film.waitFor();
    await page.evaluate(play);
    const first = await film.getAttribute('src');
    await waitFor('three links', () => (links.size >= 3 ? true : undefined));
    assert.equal(await film.getAttribute('src'), first);
    assert.deepEqual(await page.evaluate('[window.loads, document.querySelector("video").paused]'), [0, false]);
    assert.deepEqual(errors, []);
  },
);

test('a film begins to load when its poster is there, which has the line to itself', { skip }, async () => {
  const { accountId, key } = await createTestAccount(service.database, 1_000);
  const request = { model: 'videogen-2.0-fast', input: { prompt: '[[instant]] a boat', duration: 4 } };
  const { body } = await createTask({ ...service, key }, request);
  const taskId = String(body.data['taskId']);
  await waitForEnd(service.database.db, taskId);
  const { page } = await visitor.signedIn({ [accountId]: 'viewer' });
  const asked: string[] = [];
  page.on('request', (one) => {
    const [file] = /[^/]+\.(?:jpg|mp4)$/.exec(new URL(one.url()).pathname) ?? [];
    if (file !== undefined) asked.push(file);
  });
  let letPosterCome = () => {};
  const poster = new Promise<void>((resolve) => {
    letPosterCome = resolve;
  });
  await page.route('**/poster.jpg?*', async (route) => {
    await poster;
    await route.continue();
  });
  await page.goto(`${service.baseUrl}/console/a/${accountId}/tasks/${taskId}`);
  const film = page.getByLabel('The generated video');
  await film.waitFor();
  await page.getByRole('heading', { name: 'Ledger' }).waitFor();
  assert.deepEqual([...new Set(asked)], ['poster.jpg']);
  letPosterCome();
  await waitFor('the film', () => (asked.includes('video.mp4') ? true : undefined));
});
