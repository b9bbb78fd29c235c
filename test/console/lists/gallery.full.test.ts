import assert from 'node:assert/strict';
import { buffer as bufferOf } from 'node:stream/consumers';
import { after, afterEach, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { setFavoritesAndTags } from '../../../src/library/gallery/favorites-and-tags.ts';
import { createTask } from '../../support/service/call-api.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  assertNoSidewaysScroll,
  becomes,
  focused,
  startVisitor,
  tryAgain,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';
import { makeResultPortrait } from '../../support/tasks/portrait-result.ts';
import { waitForEnd } from '../../support/tasks/tasks.ts';
import { waitFor } from '../../support/wait-for.ts';

const skip = skipWithoutBrowser();

let service: TestService;
let visitor: Visitor;
let accountId: string;
/** The oldest first; the list begins with the last one. */
const taskIds: string[] = [];
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  visitor = await startVisitor(service);
  const account = await createTestAccount(service.database, 5_000);
  ({ accountId } = account);
  for (const input of [
    { prompt: 'a wide boat' },
    { prompt: 'a tall tower', ratio: '9:16' },
    { prompt: 'a wide beach' },
  ]) {
    const named = { duration: 4, ...input, prompt: `[[instant]] ${input.prompt}` };
    const request = { model: 'videogen-2.0-fast', input: named };
    const { body } = await createTask({ ...service, key: account.key }, request);
    taskIds.push(String(body.data['taskId']));
    await waitForEnd(service.database.db, taskIds.at(-1) ?? '');
  }
  await makeResultPortrait(service.database.db, taskIds[1] ?? '');
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

const cardOf = (prompt: string) => ({ name: new RegExp(`^Open: \\[\\[instant\\]\\] ${prompt}`) });

test('a video plays under the pointer, muted and one at a time, and none is loaded before', { skip }, async () => {
  const moving = { reducedMotion: 'no-preference' } as const;
  const { page, open, errors } = await visitor.signedIn({ [accountId]: 'viewer' }, moving);
  const loaded: string[] = [];
  page.on('request', (request) => void (request.url().includes('/video-') && loaded.push(request.url())));
  await open(`/a/${accountId}/gallery`);
  const boat = page.getByRole('button', cardOf('a wide boat'));
  await boat.waitFor();
  assert.deepEqual(loaded, []);
  await boat.hover();
  const playing = () =>
    page.evaluate<readonly unknown[]>(
      '[...document.querySelectorAll("video")].map((one) => [one.muted, one.paused, one.src.split("/").at(-2)])',
    );
  await becomes('the video under the pointer', playing, [[true, false, taskIds[0]]]);
  await page.getByRole('button', cardOf('a tall tower')).hover();
  await becomes('the next video', playing, [[true, false, taskIds[1]]]);
  await page.getByRole('heading', { level: 1 }).hover();
  await becomes('no video', playing, []);
  const shape = await page.getByRole('button', cardOf('a tall tower')).boundingBox();
  assert.ok(shape !== null && shape.height > shape.width, 'a poster has the ratio of its video');
  assert.deepEqual(errors, []);
});

test('the keyboard alone opens, browses, plays, marks, tags, filters and shares videos', { skip }, async () => {
  const { page, open, errors } = await visitor.signedIn({ [accountId]: 'member' });
  await open(`/a/${accountId}/gallery`);
  await page.getByRole('button', cardOf('a wide beach')).focus();
  await page.keyboard.press('ArrowRight');
  await focused(page.getByRole('button', cardOf('a tall tower')));
  await page.keyboard.press('Enter');
  const viewer = page.getByRole('dialog', { name: 'Video', exact: true });
  await focused(viewer.getByLabel('[[instant]] a tall tower'));
  await assertAccessible(page, 'an open video');
  const isPaused = () => page.evaluate('document.querySelector(".lightbox video").paused');
  await becomes('a video that plays', isPaused, false);
  await page.keyboard.press(' ');
  await becomes('a paused video', isPaused, true);
  await page.keyboard.press('f');
  await viewer.getByRole('button', { name: 'Favorite', pressed: true }).waitFor();
  await page.keyboard.press('ArrowRight');
  await viewer.getByLabel('[[instant]] a wide boat').waitFor();
  // A step replaces the player that had the focus, and a click beside the controls moves the focus.
  await page.keyboard.press('ArrowLeft');
  await viewer.getByText('[[instant]] a tall tower').click();
  await page.keyboard.press('ArrowRight');
  await viewer.getByLabel('[[instant]] a wide boat').waitFor();
  assert.equal(await viewer.getByRole('button', { name: 'Older video' }).count(), 0, 'the last video of the page');
  for (let press = 0; press < 20; press += 1) {
    await page.keyboard.press('Tab');
    assert.ok(
      await page.evaluate(
        'document.activeElement === document.body || document.activeElement.closest("dialog") !== null',
      ),
    );
  }
  await viewer.getByRole('button', { name: 'Edit tags' }).press('Enter');
  const tags = page.getByRole('dialog', { name: 'Tags of this video' });
  await tags.getByLabel('Add a tag').press('b');
  await page.keyboard.type('oats');
  await page.keyboard.press('Enter');
  await tags.getByRole('button', { name: 'Remove boats' }).waitFor();
  await assertAccessible(page, 'the tags of a video');
  await tags.getByRole('button', { name: 'Save tags' }).press('Enter');
  await tags.waitFor({ state: 'detached' });
  await viewer.getByRole('list', { name: 'Tags' }).getByText('boats').waitFor();
  const shared = await share(page, viewer);
  await page.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
  await focused(page.getByRole('button', cardOf('a wide boat')));
  await page.getByLabel('Tag', { exact: true }).selectOption('boats');
  await page.getByRole('button', cardOf('a tall tower')).waitFor({ state: 'detached' });
  assert.match(page.url(), /tag=boats/);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.getByRole('link', { name: 'Favorites' }).click();
  await page.getByRole('button', cardOf('a wide boat')).waitFor({ state: 'detached' });
  await page.getByRole('button', cardOf('a tall tower')).waitFor();
  assert.deepEqual(errors, []);
  await assertSharedPage(shared);
});

test('the keys of the gallery change no favorite for a viewer, and a held key changes one once', { skip }, async () => {
  const labels: unknown[] = [];
  const openGallery = async (role: 'viewer' | 'member') => {
    const { page, open } = await visitor.signedIn({ [accountId]: role });
    page.on('request', (request) => {
      if (request.url().endsWith('/gallery/label')) labels.push(request.postDataJSON());
    });
    await open(`/a/${accountId}/gallery`);
    await page.getByRole('button', cardOf('a wide beach')).focus();
    return page;
  };
  const viewers = await openGallery('viewer');
  await viewers.keyboard.press('f');
  // Selecting shows that the key before was handled.
  await viewers.keyboard.press('x');
  await viewers.getByRole('region', { name: 'Selected videos' }).getByText('1 selected').last().waitFor();
  const members = await openGallery('member');
  const answered = members.waitForResponse('**/gallery/label');
  // Two, so that without the guard against repeats the star would end as it began.
  for (const _press of ['down', 'held']) await members.keyboard.down('f');
  await members.keyboard.up('f');
  await answered;
  const star = members.getByRole('button', { name: /^Favorite: \[\[instant\]\] a wide beach/, pressed: true });
  await star.waitFor();
  assert.deepEqual(labels, [{ taskIds: [taskIds[2]], favorite: true }]);
  const undone = members.waitForResponse('**/gallery/label');
  await star.click();
  await undone;
});

test('an open video stays open when a change takes it out of the filtered list', { skip }, async () => {
  const labels = { isFavorite: undefined, addTags: ['harbor'], removeTags: [] };
  await setFavoritesAndTags(service.database.db, { accountId, taskIds: [taskIds[0] ?? ''], ...labels });
  const { page, open, errors } = await visitor.signedIn({ [accountId]: 'member' });
  await open(`/a/${accountId}/gallery?tag=harbor`);
  await page.getByRole('button', cardOf('a wide boat')).click();
  const viewer = page.getByRole('dialog', { name: 'Video', exact: true });
  await viewer.getByRole('button', { name: 'Edit tags' }).click();
  const tags = page.getByRole('dialog', { name: 'Tags of this video' });
  await tags.getByRole('button', { name: 'Remove harbor' }).click();
  await tags.getByRole('button', { name: 'Save tags' }).click();
  await page.getByText('No videos match these filters').waitFor();
  await viewer.getByLabel('[[instant]] a wide boat').waitFor();
  await viewer.getByText('harbor').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await viewer.waitFor({ state: 'detached' });
  await focused(page.getByRole('main'));
  assert.ok(!page.url().includes('video='));
  assert.deepEqual(errors, []);
});

test('a poster whose link no longer works is loaded with the next link', { skip }, async () => {
  const { page, open } = await visitor.signedIn({ [accountId]: 'member' });
  const expire = async (route: Route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replaceAll('/media/', '/media/expired/') });
  };
  await page.route('**/api/v1/gallery/videos?*', expire, { times: 1 });
  await open(`/a/${accountId}/gallery`);
  const loaded = '[...document.querySelectorAll(".video-card img")].filter((one) => one.naturalWidth > 0).length';
  await becomes('the posters', () => page.evaluate(loaded), taskIds.length);
});

test('links of a video that cannot be read are not shown as none', { skip }, async () => {
  const { page, open } = await visitor.signedIn({ [accountId]: 'member' });
  const refusal = { code: 500, msg: 'internal error', error: 'internal', data: {} };
  await page.route('**/gallery/shareLinks?*', (route) => route.fulfill({ status: 500, json: refusal }));
  await open(`/a/${accountId}/gallery?video=${taskIds[1]}`);
  await page.getByRole('button', { name: 'Share' }).click();
  const dialog = page.getByRole('dialog', { name: 'Share this video' });
  const failure = dialog.getByRole('alert');
  await failure.waitFor();
  await tryAgain(page, failure, '**/gallery/shareLinks?*');
  await failure.waitFor({ state: 'detached' });
});

/** Shares the open video with its dialog; returns the address of the page. */
async function share(
  page: Awaited<ReturnType<Visitor['open']>>['page'],
  viewer: ReturnType<typeof page.getByRole>,
): Promise<string> {
  await viewer.getByRole('button', { name: 'Share' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Share this video' });
  await dialog.getByLabel('Title').fill('Boat trip');
  await dialog.getByLabel('30 days').check();
  await assertAccessible(page, 'sharing a video');
  await dialog.getByRole('button', { name: 'Create link' }).press('Enter');
  const created = page.getByRole('dialog', { name: 'Link created' });
  const url = (await created.locator('code').textContent()) ?? '';
  await created.getByRole('button', { name: 'Done' }).press('Enter');
  await viewer.getByRole('button', { name: 'Share' }).press('Enter');
  await dialog.getByRole('button', { name: 'Revoke Boat trip' }).waitFor();
  await page.keyboard.press('Escape');
  return url;
}

/** A visitor without a session watches the video; the policy of the page refuses nothing that it needs. */
async function assertSharedPage(url: string): Promise<void> {
  const { page, errors, foreign } = await visitor.open({ viewport: { width: 390, height: 780 } });
  await page.goto(url);
  await page.getByRole('heading', { name: 'Boat trip' }).waitFor();
  await waitFor('a video that can be played', async () =>
    (await page.evaluate('document.querySelector("video").videoWidth')) === 1280 ? true : undefined,
  );
  await assertNoSidewaysScroll(page, 'a shared video');
  await assertAccessible(page, 'a shared video');
  assert.deepEqual([errors, foreign], [[], []]);
}

test(
  'videos that are selected by mouse or keyboard are downloaded as one file, and their content is deleted',
  { skip },
  async () => {
    const { page, open, errors } = await visitor.signedIn({ [accountId]: 'owner' }, { acceptDownloads: true });
    await open(`/a/${accountId}/gallery`);
    const bar = page.getByRole('region', { name: 'Selected videos' });
    await page.getByLabel('Select: [[instant]] a wide beach').click();
    await page.getByLabel('Select: [[instant]] a wide boat').click({ modifiers: ['Shift'] });
    await bar.getByText('3 selected').last().waitFor();
    await page.getByRole('button', cardOf('a tall tower')).press('x');
    await bar.getByText('2 selected').last().waitFor();
    await assertAccessible(page, 'a selection');
    const download = page.waitForEvent('download');
    await bar.getByRole('button', { name: 'Download ZIP' }).click();
    const archive = (await bufferOf(await (await download).createReadStream())).toString('latin1');
    // Behind the day.
    const names = new Set(archive.match(/(?<=\d{4}-\d\d-\d\d-)videogen-2\.0-fast-[\da-f]{8}\.mp4/g));
    const expected = [taskIds[2], taskIds[0]].map((taskId) => `videogen-2.0-fast-${taskId?.slice(-8)}.mp4`);
    assert.deepEqual([...names].toSorted(), expected.toSorted());
    await bar.getByRole('button', { name: 'Delete content' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 videos?' });
    await dialog.getByRole('button', { name: 'Delete content' }).click();
    await page.getByRole('button', cardOf('a wide boat')).waitFor({ state: 'detached' });
    await page.getByRole('button', cardOf('a tall tower')).waitFor();
    assert.equal(await bar.getByText('selected').count(), 0);
    assert.deepEqual(errors, []);
  },
);

test('the gallery is accessible and fits at 390 px, with videos and without', { skip }, async () => {
  const { accountId: empty } = await createTestAccount(service.database, 10);
  const labels = { isFavorite: true, addTags: ['a long tag of forty characters, at most.'], removeTags: [] };
  await setFavoritesAndTags(service.database.db, { accountId, taskIds: taskIds.slice(1, 2), ...labels });
  const roles = { [accountId]: 'owner', [empty]: 'owner' } as const;
  const { page, open, errors } = await visitor.signedIn(roles, { viewport: { width: 390, height: 780 } });
  await open(`/a/${accountId}/gallery`);
  await page.getByRole('button', cardOf('a tall tower')).waitFor();
  await assertNoSidewaysScroll(page, 'the gallery');
  await assertAccessible(page, 'the gallery');
  await page.getByRole('button', cardOf('a tall tower')).click();
  await page.getByRole('dialog', { name: 'Video', exact: true }).waitFor();
  await assertNoSidewaysScroll(page, 'an open video');
  await assertAccessible(page, 'an open video');
  await open(`/a/${empty}/gallery`);
  await page.getByRole('heading', { name: 'No videos yet' }).waitFor();
  await assertAccessible(page, 'an empty gallery');
  await page.getByRole('main').getByRole('link', { name: 'Open the playground' }).click();
  await page.waitForURL('**/playground');
  assert.deepEqual(errors, []);
});
