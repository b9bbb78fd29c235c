import { inspect } from 'node:util';
import type { TestEvent } from 'node:test/reporters';

/** A test, or a suite that was skipped as a whole or failed outside its tests. */
export type ReportedTest = {
  /** Titles of the suites around it, without the file's, and its own. */
  readonly path: readonly string[];
  readonly outcome: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped. */
  readonly detail?: string;
};
/** All tests of one file, reported at its end. */
export type ReportedFile = {
  readonly file: string;
  readonly tests: readonly ReportedTest[];
  readonly durationMs: number;
};

/** Starts a line of the output that names the file whose output follows; the record separator of ASCII. */
export const outputSeparator = '\u001e';

const maxDetailCharacters = 3_000;

/** A reporter of node:test for `test-process.ts`, whose outermost suites are files: a line of JSON for each file that ended. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const titles: string[] = [];
  let tests: ReportedTest[] = [];
  let startedAt = 0;
  for await (const { type, data } of events) {
    if (type === 'test:start') titles.splice(data.nesting, titles.length, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const outcome = outcomeOf(type, data);
    if (outcome !== undefined) tests.push({ path: titles.slice(1, data.nesting + 1), ...outcome });
    if (data.nesting > 0) continue;
    const endedAt = performance.now();
    const file: ReportedFile = { file: data.name, tests, durationMs: endedAt - startedAt };
    yield `${JSON.stringify(file)}\n`;
    tests = [];
    startedAt = endedAt;
  }
}

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

function outcomeOf(type: Ended['type'], data: Ended['data']): Omit<ReportedTest, 'path'> | undefined {
  const skipped = data.skip ?? data.todo;
  if (skipped !== undefined && skipped !== false) {
    return { outcome: 'skipped', detail: typeof skipped === 'string' ? skipped : '' };
  }
  if (type === 'test:pass') return data.details.type === 'suite' ? undefined : { outcome: 'passed' };
  const { error } = data.details as { readonly error: Error & { readonly failureType?: string } }; // A failure carries its error.
  // The tests inside, which failed, are reported themselves.
  if (error.failureType === 'subtestsFailed') return undefined;
  return { outcome: 'failed', detail: inspect(error.cause ?? error).slice(0, maxDetailCharacters) };
}
