import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Role } from '../../src/domain/role.ts';
import { hashPassword } from '../../src/passwords/passwords.ts';
import { setMembership } from '../../src/stores/memberships.ts';
import { createUser } from '../../src/stores/users.ts';
import { startBrowser } from './browser.ts';
import type { TestDatabase } from './database.ts';
import { waitFor } from './wait-for.ts';

/** A service whose console is opened. */
export type Served = { readonly baseUrl: string; readonly database: Pick<TestDatabase, 'db'> };

export const password = 'a correct horse, a battery';

/** Far above what a page takes on a busy machine. */
const patienceMs = 60_000;

/** A tab, and what must not happen in it. */
export type Tab = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to other hosts than the service. */
  readonly foreign: readonly string[];
  /** Errors of the page's console, such as violations of its policy; refusals that a test provokes are not among them. */
  readonly errors: readonly string[];
};

export type Visitor = Awaited<ReturnType<typeof startVisitor>>;

/** A browser for the console of one service. */
export async function startVisitor(service: Served, { isSetUp = true } = {}) {
  if (isSetUp) await newPerson(service, {}, true);
  const browser = await startBrowser();
  return {
    browser,
    open: (options: BrowserContextOptions = {}) => openTab(browser, service, options),
    /** A tab of somebody who is signed in. */
    signedIn: async (
      roles: Readonly<Record<string, Role>>,
      options: BrowserContextOptions & { operator?: boolean } = {},
    ) => {
      const { operator = false, ...rest } = options;
      const email = await newPerson(service, roles, operator);
      const tab = await openTab(browser, service, rest);
      await tab.page.goto(`${service.baseUrl}/console/sign-in`);
      await signIn(tab.page, email);
      return { ...tab, email };
    },
    close: () => browser.close(),
  };
}

let people = 0;

async function newPerson({ database }: Served, roles: Readonly<Record<string, Role>>, isOperator: boolean) {
  people += 1;
  const email = `person-${people}@example.com`;
  const { userId } = await createUser(database.db, { email, passwordHash: await hashPassword(password), isOperator });
  for (const [accountId, role] of Object.entries(roles)) await setMembership(database.db, accountId, userId, role);
  return email;
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
  await settled(page);
}

async function openTab(browser: Browser, { baseUrl }: Served, options: BrowserContextOptions): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(patienceMs);
  const [foreign, errors]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !/^(?:data|blob):/.test(url)) foreign.push(url);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  return { page, context, foreign, errors };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No finding of any impact. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })');
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html.slice(0, 200)).slice(0, 3)]);
  assert.deepEqual(found, [], where);
}

/** The page shows what it has, not what it waits for. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  const waiting = page.locator('.skeleton, main [aria-busy="true"]');
  await waitFor('the content of the page', async () => ((await waiting.count()) === 0 ? true : undefined));
}

/** Nothing is wider than the window. */
export async function assertNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const over = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  assert.ok(over <= 0, `${where}: ${over} px too wide`);
}
