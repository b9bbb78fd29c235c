import { syncBuiltinESMExports } from 'node:module';
import type { TestContext } from 'node:test';

type Options = NonNullable<Parameters<TestContext['mock']['timers']['enable']>[0]>;

/**
 * Replaces the timers until the test ends, also those that were imported by name from `node:timers/promises`, which the mock of Node.js alone
 * leaves as they are.
 */
export function mockTimers(t: TestContext, options: Options): void {
  t.mock.timers.enable(options);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.timers.reset();
    syncBuiltinESMExports();
  });
}
