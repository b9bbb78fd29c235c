import { resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { outputSeparator } from './reporter.ts';

// The process that runs the test files given as arguments, one after another. Each file becomes a suite named for it, so that its hooks
// end with it and the reporter can attribute its tests. The next file is imported only when all tests of the last one have ended, and
// finds the variables and the working folder as they were.
const variables = { ...process.env };
const folder = process.cwd();
for (const file of process.argv.slice(2)) {
  process.stdout.write(`${outputSeparator}${file}\n`);
  await new Promise<void>((ended) => {
    void describe(file, async () => {
      try {
        await import(pathToFileURL(resolve(file)).href);
      } catch (error) {
        test('can be loaded', () => Promise.reject(error));
      }
      after(() => {
        for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
        Object.assign(process.env, variables);
        process.chdir(folder);
        ended();
      });
    });
  });
}
