import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { assertAccessible, assertNoSidewaysScroll, becomes, focused } from '../../support/console/console-visitor.ts';
import { playgroundWith } from './playground-stage.ts';

const prices = [{ creditsPerSecond: 10 }];
const everything = {
  prompt: { maxCharacters: 100 },
  negativePrompt: {},
  resolution: { values: ['480p', '720p', '1080p'], default: '1080p' },
  duration: { min: 2, max: 12 },
  ratio: { values: ['adaptive', '16:9', '9:16', '2:3'] },
  generateAudio: { default: true },
  imageUrls: { max: 3 },
  firstFrameUrl: {},
  lastFrameUrl: { requires: 'firstFrameUrl' },
  videoUrls: { max: 2 },
  audioUrls: { max: 1 },
  seed: {},
  options: {
    cameraFixed: { type: 'boolean', default: false },
    loop: { type: 'boolean' },
    steps: { type: 'integer', min: 1, max: 50, default: 20 },
    guidance: { type: 'number', min: 0, max: 10 },
    style: { type: 'string', values: ['anime', 'film'] },
    tag: { type: 'string', maxCharacters: 40 },
  },
};
const catalogue = {
  // The preview does not pass on every field. Nothing listens there, so the tasks wait.
  providers: { box: { kind: 'own', baseUrl: 'http://127.0.0.1:9' } },
  models: [
    {
      model: 'frames',
      title: 'Frames',
      prices,
      input: {
        resolution: { values: ['720p'] },
        ratio: { values: ['16:9', '9:16'] },
        duration: { values: [5, 10] },
        generateAudio: { fixed: false },
        imageUrls: { max: 3 },
        firstFrameUrl: {},
        lastFrameUrl: { requires: 'firstFrameUrl' },
        seed: { max: 1000 },
        exclusive: [['imageUrls', 'firstFrameUrl']],
      },
    },
    { model: 'everything', title: 'Everything', prices, input: everything, providers: ['box'] },
  ],
};

const { skip, service, openPlayground } = playgroundWith(catalogue);

async function imageFile(name: string) {
  const create = { width: 400, height: 400, channels: 3, background: '#3a6ea5' } as const;
  return { name, mimeType: 'image/png', buffer: await sharp({ create }).png().toBuffer() };
}

function media(page: Page, label: string) {
  return page.getByRole('group', { name: label, exact: true });
}

function choice(page: Page, label: string) {
  return page.getByRole('radiogroup', { name: label, exact: true });
}

async function giveUrl(page: Page, label: string, url: string): Promise<void> {
  const group = media(page, label);
  await group.getByRole('button', { name: 'By URL' }).click();
  await group.getByRole('textbox').fill(url);
  await group.getByRole('button', { name: 'Add', exact: true }).click();
  await group.getByText(url).waitFor();
}

async function generate(page: Page): Promise<string> {
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.waitForURL((url) => url.searchParams.has('tasks'));
  return new URL(page.url()).searchParams.get('tasks') ?? '';
}

async function inputOf(taskId: string) {
  return (await findTask(service().database.db, taskId))?.param.input;
}

/** The value beside a label of the card of the request. */
function factOf(page: Page, label: string) {
  return page
    .locator('dl > div')
    .filter({ has: page.getByText(label, { exact: true }) })
    .locator('dd');
}

test(
  'a model with every field: the form sends each, the task page shows each, and "Run again" fills in each',
  { skip },
  async () => {
    const { page, errors } = await openPlayground();
    await page.getByLabel('Prompt', { exact: true }).fill('a paper boat');
    await page.getByRole('radio', { name: '720p' }).check({ force: true });
    await page.getByRole('slider', { name: /Length/ }).fill('7');
    await page.getByRole('radio', { name: '2:3' }).check({ force: true });
    await page.getByRole('checkbox', { name: 'Sound' }).uncheck();
    await page
      .getByLabel('Files of Reference images')
      .setInputFiles([await imageFile('a.png'), await imageFile('b.png')]);
    await media(page, 'Reference images').getByRole('button', { name: 'Remove image 2' }).waitFor();
    await page.getByLabel('Files of First frame').setInputFiles(await imageFile('first.png'));
    await media(page, 'First frame').getByRole('button', { name: 'Remove image 1' }).waitFor();
    await giveUrl(page, 'Last frame', 'https://example.com/last.png');
    await giveUrl(page, 'Reference videos', 'https://example.com/one.mp4');
    await giveUrl(page, 'Reference videos', 'https://example.com/two.mp4');
    await giveUrl(page, 'Reference audio', 'https://example.com/voice.mp3');
    await page.getByRole('checkbox', { name: 'Camera fixed' }).check();
    await page.getByText('More options').click();
    await page.getByLabel('Negative prompt').fill('text');
    await page.getByLabel('Seed').fill('42');
    await choice(page, 'Loop').getByRole('radio', { name: 'Off' }).check({ force: true });
    await page.getByRole('slider', { name: /Steps/ }).fill('30');
    await page.getByLabel('Guidance').fill('2.5');
    await choice(page, 'Style').getByRole('radio', { name: 'film' }).check({ force: true });
    await page.getByLabel('Tag').fill('campaign');
    await assertAccessible(page, 'the form of every field');
    await page.setViewportSize({ width: 360, height: 740 });
    await assertNoSidewaysScroll(page, 'the form of every field');

    const taskId = await generate(page);
    const input = await inputOf(taskId);
    assert.ok(input);
    const { imageUrls, firstFrameUrl, ...rest } = input;
    assert.equal(imageUrls.length, 2);
    assert.match(firstFrameUrl ?? '', /\/media\/uploads\//);
    assert.deepEqual(rest, {
      prompt: 'a paper boat',
      negativePrompt: 'text',
      resolution: '720p',
      duration: 7,
      ratio: '2:3',
      generateAudio: false,
      lastFrameUrl: 'https://example.com/last.png',
      videoUrls: ['https://example.com/one.mp4', 'https://example.com/two.mp4'],
      audioUrls: ['https://example.com/voice.mp3'],
      seed: 42,
      options: { cameraFixed: true, loop: false, steps: 30, guidance: 2.5, style: 'film', tag: 'campaign' },
    });

    await page.getByRole('link', { name: 'View task' }).click();
    await page.getByRole('heading', { name: /^Task/ }).waitFor();
    const facts = {
      Resolution: '720p',
      Length: '7\u00A0s',
      'Aspect ratio': '2:3',
      Sound: 'Off',
      'Negative prompt': 'text',
      Seed: '42',
      'Camera fixed': 'On',
      Loop: 'Off',
      Steps: '30',
      Guidance: '2.5',
      Style: 'film',
      Tag: 'campaign',
      'Last frame': 'https://example.com/last.png',
      'Reference audio': 'https://example.com/voice.mp3',
    };
    for (const [label, text] of Object.entries(facts)) assert.equal(await factOf(page, label).innerText(), text, label);
    // Shown because this tab uploaded them.
    assert.equal(await factOf(page, 'Reference images').getByRole('presentation').count(), 2);
    assert.deepEqual(await factOf(page, 'Reference videos').getByRole('link').allInnerTexts(), rest.videoUrls);
    await assertAccessible(page, 'the task of every field');
    await assertNoSidewaysScroll(page, 'the task of every field');

    await page.getByRole('link', { name: 'Run again' }).click();
    await becomes('the prompt', () => page.getByLabel('Prompt', { exact: true }).inputValue(), 'a paper boat');
    await becomes('the seed, which is in sight', () => page.getByLabel('Seed').inputValue(), '42');
    assert.deepEqual(await inputOf(await generate(page)), input);
    assert.deepEqual(errors, []);
  },
);

test('fields that exclude or need each other say so, before and after the request', { skip }, async () => {
  const { page } = await openPlayground();
  await page.getByRole('radio', { name: 'Frames' }).check({ force: true });
  await page.getByLabel('Prompt', { exact: true }).fill('a paper boat');
  const first = media(page, 'First frame');
  await first.getByText('Can’t be combined with: Reference images.').waitFor();
  await giveUrl(page, 'Reference images', 'https://example.com/a.png');
  await first.getByRole('button', { name: 'Upload', disabled: true }).waitFor();
  await first.getByRole('paragraph').filter({ hasText: 'Remove that first.' }).waitFor();
  await media(page, 'Reference images').getByRole('button', { name: 'Remove image 1' }).click();
  await first.getByRole('button', { name: 'Upload', disabled: false }).waitFor();
  await media(page, 'Last frame').getByText('Requires: First frame.').waitFor();
  await giveUrl(page, 'Last frame', 'https://example.com/last.png');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await first.getByRole('alert').getByText('Is required together with lastFrameUrl').waitFor();
});

test('the API’s error about a folded field opens and focuses it', { skip }, async () => {
  const { page } = await openPlayground();
  await page.getByLabel('Prompt', { exact: true }).fill('a paper boat');
  await page.getByText('More options').click();
  const seed = page.getByLabel('Seed');
  await seed.fill('-1');
  await page.getByText('More options').click();
  await seed.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByText('Must be a whole number from 0 to 2147483647; leave it out for a random one').waitFor();
  await focused(seed);
});

test('another model keeps the values that it takes, and they come back with the first one', { skip }, async () => {
  const { page } = await openPlayground();
  await page.getByLabel('Prompt', { exact: true }).fill('a paper boat');
  await page.getByRole('slider', { name: /Length/ }).fill('7');
  await page.getByRole('radio', { name: '9:16' }).check({ force: true });
  await page.getByText('More options').click();
  await page.getByLabel('Seed').fill('42');
  await page.getByLabel('Tag').fill('campaign');
  await page.getByRole('radio', { name: 'Frames' }).check({ force: true });
  await page.getByRole('radio', { name: '10' }).waitFor({ state: 'attached' });
  assert.equal(await page.getByLabel('Prompt', { exact: true }).inputValue(), 'a paper boat');
  assert.equal(await page.getByRole('radio', { name: '9:16' }).isChecked(), true);
  assert.equal(await page.getByLabel('Seed').inputValue(), '42');
  assert.equal(await choice(page, 'Resolution').count(), 0);
  assert.equal(await page.getByRole('checkbox', { name: 'Sound' }).count(), 0);
  // 7 seconds are not sold.
  await page.getByRole('button', { name: 'Generate · 50 credits' }).waitFor();
  await page.getByRole('radio', { name: 'Everything' }).check({ force: true });
  await becomes('the length', () => page.getByRole('slider', { name: /Length/ }).inputValue(), '7');
  await becomes('the tag', () => page.getByLabel('Tag').inputValue(), 'campaign');
});

/** Drops or pastes files as a browser does. `text`: also on the clipboard. */
async function transfer(
  page: Page,
  type: 'drop' | 'paste',
  where: string,
  file: { mimeType: string; buffer: Buffer },
  text = '',
) {
  const bytes = file.buffer.toString('base64');
  return page.evaluate<boolean>(`(() => {
    const data = new DataTransfer();
    const bytes = Uint8Array.from(atob(${JSON.stringify(bytes)}), (letter) => letter.charCodeAt(0));
    data.items.add(new File([bytes], 'file', { type: ${JSON.stringify(file.mimeType)} }));
    if (${JSON.stringify(text)} !== '') data.setData('text/plain', ${JSON.stringify(text)});
    const init = { bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data };
    const event = ${type === 'drop' ? "new DragEvent('drop', init)" : "new ClipboardEvent('paste', init)"};
    document.querySelector(${JSON.stringify(where)}).dispatchEvent(event);
    return event.defaultPrevented;
  })()`);
}

test('images are dropped on a field, or dropped or pasted anywhere on the form', { skip }, async () => {
  const { page, errors } = await openPlayground();
  const image = await imageFile('a.png');
  const chosen = (label: string) =>
    media(page, label)
      .getByRole('button', { name: /^Remove/ })
      .count();
  assert.equal(await transfer(page, 'drop', 'section[aria-label="Video"] form', image), true);
  await becomes('the images', () => chosen('Reference images'), 1);
  assert.equal(await transfer(page, 'paste', 'form textarea', image), true);
  await becomes('the images', () => chosen('Reference images'), 2);
  assert.equal(await transfer(page, 'drop', '.frames fieldset:last-child legend', image), true);
  await becomes('the last frame', () => chosen('Last frame'), 1);
  assert.equal(await chosen('First frame'), 0);
  // A picture of copied text does not replace the text.
  assert.equal(await transfer(page, 'paste', 'form textarea', image, 'a word'), false);
  assert.equal(await transfer(page, 'drop', '.frames legend', { ...image, mimeType: 'text/plain' }), true);
  await media(page, 'First frame').getByRole('alert').getByText('file isn’t an image').waitFor();
  assert.equal(await transfer(page, 'drop', 'form textarea', { ...image, mimeType: 'text/plain' }), true);
  await page.getByText('This model doesn’t take such a file').waitFor();
  assert.equal(await chosen('Reference images'), 2);
  // The model takes three.
  for (let dropped = 0; dropped < 2; dropped += 1) {
    await transfer(page, 'drop', '[data-media="image"] legend', image);
    await becomes('the images', () => chosen('Reference images'), 3);
  }
  await page.getByRole('status').getByText('At most 3').waitFor();
  assert.equal(await chosen('First frame'), 0);
  assert.deepEqual(errors, []);
});
