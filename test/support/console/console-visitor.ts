import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page, Route } from 'playwright-core';
import type { Role } from '../../../src/accounts/people/account-roles-and-scopes.ts';
import { clearedSessionCookie } from '../../../src/api/sign-in/session-and-oidc-visit-cookies.ts';
import { setMembership } from '../../../src/accounts/people/memberships.ts';
import { createSession } from '../../../src/accounts/sign-in/sessions.ts';
import { createUser, findUserByEmail } from '../../../src/accounts/people/users.ts';
import { startBrowser } from './browser.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { hashCheaply } from '../service/person.ts';
import { waitFor } from '../wait-for.ts';

/** A service whose console is opened. */
export type Served = { readonly baseUrl: string; readonly database: Pick<TestDatabase, 'db'> };

export const password = 'a correct horse, a battery';

/** The windows in which pages are looked at. */
export const windows = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
} as const;

/** A tab, and what must not happen in it. */
export type Tab = {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Requests to other hosts than the service. */
  readonly foreign: readonly string[];
  /** Errors of the page's console, such as violations of its policy; refusals that a test provokes are not among them. */
  readonly errors: readonly string[];
  /** Opens a page of the console, such as `/ops`, and waits until it shows its content; by default the first page. */
  readonly open: (path?: string) => Promise<void>;
};

export type PersonTab = Tab & { readonly email: string };

export type Visitor = Awaited<ReturnType<typeof startVisitor>>;

/** A browser for the console of one service. `isAlone`: shares no process with other test files. */
export async function startVisitor(service: Served, { isSetUp = true, isAlone = false } = {}) {
  if (isSetUp) await newPerson(service, {}, true);
  const browser = await startBrowser({ isAlone });
  const tabs = new Set<BrowserContext>();
  const openTab = async (options: BrowserContextOptions = {}) => {
    const tab = await newTab(browser, service, options);
    tabs.add(tab.context);
    tab.context.once('close', () => tabs.delete(tab.context));
    return tab;
  };
  /** A tab with a session of this person, made in the database: typing and hashing passwords takes time. No page is open yet. */
  const tabOf = async (email: string, options: BrowserContextOptions = {}): Promise<PersonTab> => {
    const tab = await openTab(options);
    await tab.context.addCookies([await sessionCookie(service, email)]);
    return { ...tab, email };
  };
  /** Closes all tabs, which would otherwise keep reading, and playing their films, next to the following test. */
  const closeTabs = async () => {
    for (const context of tabs) {
      // A route handler that still waits for a response would fail once its tab is closed.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
  };
  return {
    browser,
    /** A tab without a session. */
    open: openTab,
    /** The e-mail address of a new user with these roles; the password is `password`. */
    newPerson: (roles: Readonly<Record<string, Role>>) => newPerson(service, roles, false),
    tabOf,
    /** A tab of a new user with these roles. */
    signedIn: async (
      roles: Readonly<Record<string, Role>>,
      { operator = false, ...options }: BrowserContextOptions & { operator?: boolean } = {},
    ) => tabOf(await newPerson(service, roles, operator), options),
    closeTabs,
    close: async () => {
      await closeTabs();
      await browser.close();
    },
  };
}

let people = 0;
const passwordHash = hashCheaply(password);

async function newPerson({ database }: Served, roles: Readonly<Record<string, Role>>, isOperator: boolean) {
  people += 1;
  const email = `person-${people}@example.com`;
  const { userId } = await createUser(database.db, { email, passwordHash: await passwordHash, isOperator });
  for (const [accountId, role] of Object.entries(roles)) await setMembership(database.db, accountId, userId, role);
  return email;
}

async function sessionCookie({ baseUrl, database }: Served, email: string) {
  const user = await findUserByEmail(database.db, email);
  assert.ok(user, email);
  const origin = { address: '127.0.0.1', userAgent: 'the tests' };
  const { token } = await createSession(database.db, user.userId, origin);
  return cookieFor(baseUrl, token);
}

/** The cookie of a session, as a browser keeps it. */
export function cookieFor(baseUrl: string, token: string) {
  const [name = ''] = clearedSessionCookie(baseUrl).split('=');
  const secure = baseUrl.startsWith('https:');
  return { name, value: token, url: baseUrl, httpOnly: true, sameSite: 'Lax', secure } as const;
}

/** Signs in with the form of the page that is open. */
export async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
  await settled(page);
}

/**
 * Messages that the console shows for 5 s, and the word "Copied" that it shows for 2 s, stay: a test on a busy machine would miss them.
 * Nothing else in the console uses timers of these lengths.
 */
export const lasting = `(() => {
  const plain = window.setTimeout;
  window.setTimeout = (work, ms, ...rest) => plain(work, ms === 2000 || ms === 5000 ? 3_600_000 : ms, ...rest);
})()`;

async function newTab(browser: Browser, { baseUrl }: Served, options: BrowserContextOptions): Promise<Tab> {
  // Animations cost processor time, and a color in transition may fail the check of its contrast.
  const defaults = { viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' } as const;
  const context = await browser.newContext({ ...defaults, ...options });
  await context.addInitScript(lasting);
  const page = await context.newPage();
  const [foreign, errors]: [string[], string[]] = [[], []];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${baseUrl}/`) && !/^(?:data|blob):/.test(url)) foreign.push(url);
  });
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  const open = async (path = '') => {
    await page.goto(`${baseUrl}/console${path}`);
    await settled(page);
  };
  return { page, context, foreign, errors, open };
}

/**
 * Presses the button while the requests still fail, then lets them pass and waits until the failure is gone. The page also tries by
 * itself, and then the button goes with the failure.
 */
export async function tryAgain(page: Page, within: Page | Locator, requests: string): Promise<void> {
  const button = within.getByRole('button', { name: 'Try again' }).first();
  await Promise.all([page.waitForRequest(requests), button.click()]);
  await page.unroute(requests);
  await waitFor('the end of the failure', async () => {
    if (!(await button.isVisible())) return true;
    await button.click({ timeout: 1_000 }).catch(() => undefined);
    return undefined;
  });
}

/** Waits until `read` returns what is expected. What a page shows changes some time after a click. */
export async function becomes<T>(what: string, read: () => Promise<T>, expected: T): Promise<void> {
  let last: T | undefined;
  const isThere = async () => {
    last = await read();
    return isDeepStrictEqual(last, expected) ? true : undefined;
  };
  await waitFor(what, isThere).catch(() => assert.deepEqual(last, expected, what));
}

/** The drafts of the playground that this browser keeps (src/console/features/playground/draft/draft-storage-key-and-deletion.ts); null without any. */
export async function keptDrafts(page: Page): Promise<string | null> {
  return await page.evaluate<string | null>(`localStorage.getItem('console-drafts')`);
}

/** Waits until the draft with this text is kept, which happens some time after the input. */
export async function draftHas(page: Page, text: string): Promise<void> {
  await waitFor('the stored draft', async () => (await keptDrafts(page))?.includes(text));
}

/** Makes the page hidden or visible, as when its tab is left or opened. A page that becomes visible reads everything again. */
export async function show(page: Page, state: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
}

/** Waits until the element has the focus. */
export function focused(element: Locator): Promise<void> {
  return element.and(element.page().locator(':focus')).waitFor();
}

/** Closes the dialog that shows something once, and waits until it has closed. */
export async function closeDialog(page: Page, button: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: button }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Requests of this path reach the service; their answers wait until `release`. */
export async function holdAnswers(page: Page, path: string) {
  let isAsked = false;
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  const hold = async (route: Route) => {
    const response = await route.fetch();
    isAsked = true;
    await isReleased;
    await route.fulfill({ response });
  };
  await page.route(`**${path}`, hold);
  return { asked: () => waitFor(path, () => isAsked || undefined), release: () => release() };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** No finding of any impact. */
export async function assertAccessible(page: Page, where: string): Promise<void> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe);
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

/** Nothing is wider than the window, as soon as charts have followed its size. */
export async function assertNoSidewaysScroll(page: Page, where: string): Promise<void> {
  const over = 'Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)';
  await becomes(`the pixels that are too wide: ${where}`, () => page.evaluate<number>(over), 0);
}
