import { setImmediate as nextTurn } from 'node:timers/promises';

const generousMs = 180_000;

/** Like `waitFor`, for tests with a mocked `setTimeout`: it checks in each turn of the event loop. */
export async function untilTurn(what: string, look: () => boolean | Promise<boolean>): Promise<void> {
  for (const giveUpAt = Date.now() + generousMs; !(await look()); await nextTurn())
    if (Date.now() > giveUpAt) throw new Error(`waited ${generousMs} ms in vain for ${what}`);
}
