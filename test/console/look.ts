import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { limitAccountAs } from '../../src/accounts/accounts.ts';
import { setPriceAs } from '../../src/credits/prices.ts';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { settled, startVisitor, windows } from '../support/console.ts';
import { accountPages, operatorPages } from '../support/console-pages.ts';
import { fillAccount } from '../support/filled-account.ts';
import { createTestAccount, startTestService } from '../support/service.ts';
import { waitFor } from '../support/wait-for.ts';
import { dateRows, still } from './still.ts';

// `npm run look`: pictures of every page in every window and state, and one sheet for each page, in the folder `look`; and the
// picture of the README. They are looked at by people; no test compares pixels, since fonts differ from machine to machine.

const folder = 'look';
const states = ['empty', 'filled', 'failed'] as const;
type State = (typeof states)[number];

/** Of one picture on a sheet. */
const column = { width: 480, height: 520, gap: 12 };

/** Pictures also below the window: they are loaded late, and painted later. */
const decode = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager';
  return image.decode().catch(() => undefined);
})).then(() => undefined)`;

/** Letters and films are there, and so is the balance. */
const whole = `document.querySelector('.balance strong')?.textContent !== '…' && document.fonts.status === 'loaded'
  && [...document.querySelectorAll('video')].every(({ readyState }) => readyState === 4)`;

await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, 'pages'), { recursive: true });
// The address stands in examples of requests.
const service = await startTestService({ PORT: '4655' });
const receiver = await startCallbackReceiver({ answer: ({ body }) => (body.includes('reject') ? 410 : 204) });
const visitor = await startVisitor(service);
try {
  const filled = await fillAccount(service, receiver.url, { isRendered: true });
  const empty = (await createTestAccount(service.database)).accountId;
  const { db } = service.database;
  await dateRows(db);
  const operator = { kind: 'command_line', name: 'ada' } as const;
  await setPriceAs(db, operator, {
    model: 'videogen-2.0',
    priceName: 'standard',
    creditsPerSecond: 45,
    creditsPerVideo: 0,
    accountId: undefined,
    reason: 'The provider costs more.',
  });
  await limitAccountAs(db, operator, { accountId: filled.accountId, maxUnfinishedTasks: 500 });
  const addresses = { [receiver.url]: 'https://app.example.com' };
  const pathsOf = (state: State): Readonly<Record<string, string>> => {
    const base = `/a/${state === 'empty' ? empty : filled.accountId}`;
    const taskId = state === 'failed' ? filled.failed : filled.succeeded;
    const own = Object.entries(accountPages).map(([name, path]) => [name, `${base}${path}`] as const);
    return {
      ...Object.fromEntries(own),
      ...operatorPages,
      'ops-audit': state === 'empty' ? `/ops/audit?account=${empty}` : '/ops/audit',
      'ops-account': `/ops/accounts/${state === 'empty' ? empty : filled.accountId}`,
      'ops-task': `/ops/tasks/${state === 'empty' ? 'none' : taskId}`,
      task: `${base}/tasks/${state === 'empty' ? 'none' : taskId}`,
    };
  };
  for (const [window, size] of Object.entries(windows)) {
    // Without the room that a scrollbar takes from a page that no phone shows so.
    const device = window === 'narrow' ? { isMobile: true, hasTouch: true } : {};
    const options = { ...size, ...device, locale: 'en-US', timezoneId: 'UTC' };
    const signedOut = await visitor.open(options);
    await signedOut.page.goto(`${service.baseUrl}/console/sign-in`);
    await photograph(signedOut.page, 'sign-in', `${window}-filled`);
    const roles = { [filled.accountId]: 'owner', [empty]: 'owner' } as const;
    const { page, context } = await visitor.signedIn(roles, { ...options, operator: true });
    const shown = await still(context, { db, addresses });
    for (const state of states) {
      if (state === 'failed') await breakReads(page);
      for (const [name, path] of Object.entries(pathsOf(state))) {
        await page.goto(`${service.baseUrl}/console${shown(path)}`);
        await photograph(page, name, `${window}-${state}`);
      }
    }
    await signedOut.context.close();
    // A page asks again and again, also while it is closed.
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
  for (const name of ['sign-in', ...Object.keys(pathsOf('filled'))]) await makeSheet(name);
} finally {
  await visitor.close();
  await receiver.close();
  await service.close();
}

async function photograph(page: Page, name: string, variant: string): Promise<void> {
  await settled(page);
  await page.evaluate(decode);
  await waitFor('the whole page', async () => ((await page.evaluate<boolean>(whole)) ? true : undefined), 20_000);
  // A failed read is retried before the page shows the error. The failed task comes from a read that works; the settings read nothing.
  if (variant.endsWith('failed') && name !== 'task' && name !== 'settings')
    await page.getByRole('button', { name: 'Try again' }).first().waitFor();
  const path = pictureOf(name, variant);
  const take = () => page.screenshot({ path, animations: 'disabled', fullPage: true });
  // The controls of a film go on turning for some time.
  let picture = await take();
  if ((await page.locator('video').count()) > 0) {
    await waitFor('a film that rests', async () => {
      const before = picture;
      picture = await take();
      return before.equals(picture) ? true : undefined;
    });
  }
  if (`${name}-${variant}` === 'task-light-filled') await takeForReadme(page);
}

/** The one of the README. */
async function takeForReadme(page: Page): Promise<void> {
  const png = await sharp(await page.screenshot({ animations: 'disabled' }))
    .png({ compressionLevel: 9, effort: 10 })
    .toBuffer();
  if (png.length > 300_000) throw new Error(`the picture of the README has ${png.length} bytes, more than 300,000`);
  await writeFile('docs/console.png', png);
}

/** Every read but that of the failed task is answered as by a service whose database is away. */
async function breakReads(page: Page): Promise<void> {
  const envelope = { code: 503, msg: 'the database is unavailable', error: 'database_unavailable', data: {} };
  await page.route(/\/api\/(?:admin\/)?v1\/(?!jobs\/timeline)|\/api\/console\/v1\/(?!(?:me|options)\b)/, (route) =>
    route.fulfill({ status: 503, json: envelope }),
  );
}

function pictureOf(name: string, variant: string): string {
  return join(folder, 'pages', `${name}-${variant}.png`);
}

/** A row for each state, a column for each window. */
async function makeSheet(name: string): Promise<void> {
  const { width, height, gap } = column;
  const rows = name === 'sign-in' ? (['filled'] as const) : states;
  // Of a long page as much as one sees of it first.
  const cells = rows.flatMap((state, row) =>
    Object.entries(windows).map(([window, { viewport }], at) => ({
      file: pictureOf(name, `${window}-${state}`),
      viewport,
      row,
      at,
    })),
  );
  const pictures = await Promise.all(
    cells.map(async ({ file, viewport, row, at }) => ({
      // From memory: the service has closed libvips' own ways to files.
      input: await sharp(await readFile(file))
        .extract({ left: 0, top: 0, ...viewport })
        .resize({ width, height, fit: 'inside' })
        .png()
        .toBuffer(),
      left: at * (width + gap),
      top: row * (height + gap),
    })),
  );
  const size = { width: 3 * (width + gap), height: rows.length * (height + gap) };
  await sharp({ create: { ...size, channels: 3, background: '#8a8f98' } })
    .composite(pictures)
    .png()
    .toFile(join(folder, `${name}.png`));
}
