import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { startCallbackReceiver } from '../support/callback-receiver.ts';
import { settled, startVisitor } from '../support/console.ts';
import { accountPages, operatorPages, windows } from '../support/console-pages.ts';
import { fillAccount } from '../support/filled-account.ts';
import { createTestAccount, startTestService } from '../support/service.ts';

// `npm run look`: pictures of every page in every window and state, and one sheet for each page, in the folder `look`. They are
// looked at by people; no test compares pixels, since fonts differ from machine to machine.

const folder = 'look';
const states = ['empty', 'filled', 'failed'] as const;
type State = (typeof states)[number];

/** Of one picture on a sheet. */
const column = { width: 480, height: 520, gap: 12 };

await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, 'pages'), { recursive: true });
const service = await startTestService();
const receiver = await startCallbackReceiver({ answer: ({ body }) => (body.includes('reject') ? 500 : 204) });
const visitor = await startVisitor(service);
try {
  const filled = await fillAccount(service, receiver.url);
  const empty = (await createTestAccount(service.database)).accountId;
  const pathsOf = (state: State): Readonly<Record<string, string>> => {
    const base = `/a/${state === 'empty' ? empty : filled.accountId}`;
    const taskId = state === 'failed' ? filled.failed : filled.succeeded;
    const own = Object.entries(accountPages).map(([name, path]) => [name, `${base}${path}`] as const);
    return {
      ...Object.fromEntries(own),
      ...operatorPages,
      'ops-account': `/ops/accounts/${state === 'empty' ? empty : filled.accountId}`,
      'ops-task': `/ops/tasks/${state === 'empty' ? 'none' : taskId}`,
      task: `${base}/tasks/${state === 'empty' ? 'none' : taskId}`,
    };
  };
  for (const [window, options] of Object.entries(windows)) {
    const signedOut = await visitor.open(options);
    await signedOut.page.goto(`${service.baseUrl}/console/sign-in`);
    await photograph(signedOut.page, 'sign-in', `${window}-filled`);
    const roles = { [filled.accountId]: 'owner', [empty]: 'owner' } as const;
    const { page, context } = await visitor.signedIn(roles, { ...options, operator: true });
    for (const state of states) {
      if (state === 'failed') await breakReads(page);
      for (const [name, path] of Object.entries(pathsOf(state))) {
        await page.goto(`${service.baseUrl}/console${path}`);
        await photograph(page, name, `${window}-${state}`);
      }
    }
    await signedOut.context.close();
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
  await page.evaluate('document.fonts.ready.then(() => true)');
  await page.screenshot({ path: pictureOf(name, variant), animations: 'disabled' });
}

/** Every read but that of the failed task is answered as by a service whose database is away. */
async function breakReads(page: Page): Promise<void> {
  const envelope = { code: 503, msg: 'the database is unavailable', error: 'database_unavailable', data: {} };
  await page.route(/\/api\/(?:admin\/)?v1\/(?!jobs\/timeline)|\/api\/console\/v1\/(?!me|options)/, (route) =>
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
  const cells = rows.flatMap((state, row) =>
    Object.keys(windows).map((window, at) => ({ file: pictureOf(name, `${window}-${state}`), row, at })),
  );
  const pictures = await Promise.all(
    cells.map(async ({ file, row, at }) => ({
      // From memory: the service has closed libvips' own ways to files.
      input: await sharp(await readFile(file))
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
