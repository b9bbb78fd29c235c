import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'] as const;

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

/** Starts it without a window. Throws when there is none. */
export function startBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('VIDEOGEN_REQUIRE_BROWSER is set, and there is no Chromium');
  // Its sandbox cannot be had as root or within most containers; only our own pages are opened.
  return chromium.launch({ executablePath, chromiumSandbox: false, timeout: 180_000 });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
