import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type FinishingService, startFinishingService } from '../api/dialects/finishing-service.ts';
import { documentedExamples } from '../support/documents/documented-examples.ts';

// The whole examples of docs/clients.md, run as they are written, but for the address of the service.

const run = promisify(execFile);
const examples = documentedExamples('docs/clients.md', 'js');
let stage: FinishingService;
let folder: string;
before(async () => {
  stage = await startFinishingService();
  // Below the project, where Node.js finds the clients.
  folder = await mkdtemp(join('dist', 'documented-clients-'));
});
after(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

test('there is an example for each client of npm', () => {
  const imported = examples.flatMap(({ text }) => [...text.matchAll(/ from '([^']+)'/g)].map(([, name = '']) => name));
  for (const name of ['openai', '@openrouter/sdk', '@openrouter/ai-sdk-provider', '@ai-sdk/bytedance'])
    assert.ok(imported.includes(name), name);
});

for (const { text, file } of examples) {
  test(`the example of docs/clients.md that writes ${file} creates, waits and downloads, for one charge`, async () => {
    const { accountId, key } = await stage.newAccount(1_000);
    const program = join(folder, `${file}.mjs`);
    await writeFile(program, text.replaceAll('https://YOUR-HOST', stage.publicUrl));
    const env = { ...process.env, VIDEOGEN_API_KEY: key };
    await run(process.execPath, [`${file}.mjs`], { cwd: folder, env });
    assert.deepEqual(await readFile(join(folder, file)), stage.video);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1_000 - 4 * 33 });
  });
}
