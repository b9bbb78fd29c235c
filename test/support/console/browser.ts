import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'] as const;

/** The address of a Chromium that the test runner has started for all files; without it each file starts its own. */
export const browserVariable = 'VIDEOGEN_TEST_BROWSER';

/** The one timeout of every wait in a browser. It is far above what a page takes on a busy machine: only a wait in vain lasts that long. */
const patienceMs = 180_000;

/** A Chromium of this machine: `CHROMIUM_PATH`, else the first of its usual names on the PATH; undefined without any. */
export function findChromium({ CHROMIUM_PATH: explicit, PATH: searchPath = '' } = process.env): string | undefined {
  if (explicit !== undefined && explicit !== '') return explicit;
  const candidates = names.flatMap((name) => searchPath.split(delimiter).map((folder) => join(folder, name)));
  return candidates.find(isExecutable);
}

/** Why tests in a browser are skipped, or false; where `VIDEOGEN_REQUIRE_BROWSER=1` they fail instead. */
export function skipWithoutBrowser(): string | false {
  if (findChromium() !== undefined || process.env['VIDEOGEN_REQUIRE_BROWSER'] === '1') return false;
  return `no Chromium is on this machine (CHROMIUM_PATH, ${names.join(', ')})`;
}

/**
 * A Chromium without a window: the shared one if there is one. `isAlone` starts another process, for tests of what all tabs of a browser
 * share, such as the clipboard. Throws when there is no Chromium.
 */
export async function startBrowser({ isAlone = false } = {}): Promise<Browser> {
  const shared = isAlone ? undefined : process.env[browserVariable];
  const browser =
    shared === undefined
      ? await chromium.launch(launchOptions())
      : // A shared browser that has crashed must not fail the files that follow.
        await chromium.connect(shared, { timeout: patienceMs }).catch(() => chromium.launch(launchOptions()));
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(patienceMs);
    return context;
  };
  return browser;
}

export type SharedBrowser = { readonly wsEndpoint: string; close(): Promise<void> };

/** Starts the Chromium of all files, whose address goes into `browserVariable`. Undefined when there is no Chromium. */
export async function startSharedBrowser(): Promise<SharedBrowser | undefined> {
  if (findChromium() === undefined) return undefined;
  // The runner handles signals itself: Playwright would end its process before it has cleaned up.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  const server = await chromium.launchServer({ ...launchOptions(), ...signals, host: '127.0.0.1' });
  return { wsEndpoint: server.wsEndpoint(), close: () => server.close() };
}

/**
 * Chromium takes the last list of a command line, so this one repeats that of Playwright 1.65. The two of WebUIOmnibox are added: each
 * window renders the list below its address bar as a page, which no test sees and which costs two thirds of the processor time of an
 * empty window. Puppeteer disables them, too.
 */
const disabledFeatures = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
];

function launchOptions(): LaunchOptions {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('VIDEOGEN_REQUIRE_BROWSER is set, and there is no Chromium');
  // Chromium's sandbox does not work as root or in most containers; the tests open only our own pages.
  const args = [`--disable-features=${disabledFeatures.join(',')}`];
  return { executablePath, chromiumSandbox: false, timeout: patienceMs, args };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
