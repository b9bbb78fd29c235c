import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { startCallbackReceiver } from '../../support/servers/callback-receiver.ts';
import { settled, startVisitor, windows } from '../../support/console/console-visitor.ts';
import { accountPages, operatorPages } from '../../support/console/console-pages.ts';
import { createTestAccount, startTestService } from '../../support/service/test-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fillStudio } from './look-data.ts';

// `npm run look`: pictures of every page in every window and state, and one sheet for each page, in the folder `look`; and the
// picture of the README. They are looked at by people; no test compares pixels, since fonts differ from machine to machine.
// Words choose some of them, and the others stay as they are: `npm run look -- dark narrow failed credits`.

const folder = 'look';
const states = ['empty', 'filled', 'failed'] as const;
type State = (typeof states)[number];

/** Of one picture on a sheet. */
const column = { width: 480, height: 520, gap: 12 };

/** Images below the window load late. */
const decode = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager';
  return image.decode().catch(() => undefined);
})).then(() => undefined)`;
const loaded = `document.fonts.status === 'loaded'
  && [...document.querySelectorAll('video')].every(({ preload, readyState }) => preload === 'none' || readyState >= 2)`;

const words = process.argv.slice(2);
if (words.length === 0) await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, 'pages'), { recursive: true });
// The address stands in examples of requests.
const service = await startTestService({ PORT: '4655', SIGN_UP: 'open' });
const receiver = await startCallbackReceiver({ answer: ({ body }) => (body.includes('reject') ? 410 : 204) });
const visitor = await startVisitor(service);
try {
  const empty = (await createTestAccount(service.database)).accountId;
  const filled = await fillStudio(service, receiver.url);
  const pathsOf = (state: State): Readonly<Record<string, string>> => {
    const accountId = state === 'empty' ? empty : filled.accountId;
    const taskId = { empty: 'none', filled: filled.succeeded, failed: filled.failed }[state];
    const own = Object.entries(accountPages).map(([name, path]) => [name, `/a/${accountId}${path}`] as const);
    return {
      ...Object.fromEntries(own),
      ...operatorPages,
      'ops-audit': state === 'empty' ? `/ops/audit?account=${empty}` : '/ops/audit',
      'ops-account': `/ops/accounts/${accountId}`,
      'ops-task': `/ops/tasks/${taskId}`,
      model: `/a/${accountId}/models/videogen-2.0`,
      task: `/a/${accountId}/tasks/${taskId}`,
    };
  };
  /** Pages that need no session. */
  const openPages: Readonly<Record<string, string>> = {
    'sign-in': '/console/sign-in',
    'sign-up': '/console/sign-up',
    setup: '/console/setup#used',
    invite: filled.invitation,
    reset: '/console/reset#used',
    share: filled.shared,
    'share-expired': '/s/expired',
  };
  const statement = `/console/a/${filled.accountId}/statements/${new Date().toISOString().slice(0, 7)}.html`;
  const chosenWindows = chosen(Object.keys(windows));
  const chosenStates = chosen(states);
  const pages = [...Object.keys(openPages), 'statement', ...Object.keys(pathsOf('filled'))];
  const chosenPages = chosen(pages);
  const unknown = words.filter((word) => ![...Object.keys(windows), ...states, ...pages].includes(word));
  if (unknown.length > 0)
    throw new Error(`no window, state or page: ${unknown.join(', ')}; pages: ${pages.join(', ')}`);
  for (const [window, size] of Object.entries(windows).filter(([name]) => chosenWindows.includes(name))) {
    // Phones show no scrollbar beside a page.
    const device = window === 'narrow' ? { isMobile: true, hasTouch: true } : {};
    const options = { ...size, ...device, locale: 'en-US', timezoneId: 'UTC' };
    const signedOut = await visitor.open(options);
    for (const [name, path] of Object.entries(openPages).filter(([one]) => chosenPages.includes(one))) {
      await signedOut.page.goto(service.baseUrl + path);
      await photograph(signedOut.page, name, `${window}-filled`);
    }
    await signedOut.context.close();
    const roles = { [filled.accountId]: 'owner', [empty]: 'owner' } as const;
    const { page, context } = await visitor.signedIn(roles, { ...options, operator: true });
    if (chosenPages.includes('statement')) {
      await page.goto(service.baseUrl + statement);
      await photograph(page, 'statement', `${window}-filled`);
    }
    for (const state of chosenStates) {
      if (state === 'failed') await breakReads(page);
      for (const [name, path] of Object.entries(pathsOf(state)).filter(([one]) => chosenPages.includes(one))) {
        await page.goto(`${service.baseUrl}/console${path}`);
        await photograph(page, name, `${window}-${state}`);
      }
    }
    // A page keeps polling while it closes.
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
  for (const name of chosenPages) await makeSheet(name);
} finally {
  await visitor.close();
  await receiver.close();
  await service.close();
}

/** Those that are named, or all of them. */
function chosen<Name extends string>(names: readonly Name[]): readonly Name[] {
  const named = names.filter((name) => words.includes(name));
  return named.length === 0 ? names : named;
}

async function photograph(page: Page, name: string, variant: string): Promise<void> {
  await settled(page);
  await page.evaluate(decode);
  await waitFor(`the media of ${name}`, async () => ((await page.evaluate<boolean>(loaded)) ? true : undefined));
  // The error appears after the read was tried again. Pages that read nothing have none.
  const retry = page.getByRole('button', { name: 'Try again' }).first();
  if (variant.endsWith('failed')) await retry.waitFor({ timeout: 8_000 }).catch(() => undefined);
  await page.screenshot({ path: pictureOf(name, variant), animations: 'disabled', fullPage: true });
  if (`${name}-${variant}` === 'task-light-filled') await takeForReadme(page);
}

/** The one of the README, once the controls of its video have stopped moving. */
async function takeForReadme(page: Page): Promise<void> {
  const take = () => page.screenshot({ animations: 'disabled' });
  let picture = await take();
  await waitFor('a video at rest', async () => {
    const before = picture;
    picture = await take();
    return before.equals(picture) ? true : undefined;
  });
  const png = await sharp(picture).png({ compressionLevel: 9, effort: 10 }).toBuffer();
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

/** A row for each state that was seen, a column for each window. */
async function makeSheet(name: string): Promise<void> {
  const { width, height, gap } = column;
  const rows = states.filter((state) =>
    Object.keys(windows).some((window) => existsSync(pictureOf(name, `${window}-${state}`))),
  );
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
    cells
      .filter(({ file }) => existsSync(file))
      .map(async ({ file, viewport, row, at }) => ({
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
