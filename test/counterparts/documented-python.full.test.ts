import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { type FinishingService, startFinishingService } from '../api/dialects/finishing-service.ts';
import { documentedExamples } from '../support/documents/documented-examples.ts';
import { pythonWith } from '../support/processes/installed-packages.ts';
import { bytePlusPackages } from './ark/ark-packages.ts';

// The examples of docs/clients.md in Python, run as they are written, but for the address of the service.

const run = promisify(execFile);
const openai = process.env['VIDEOGEN_TEST_OPENAI_PYTHON'] ?? '';
let stage: FinishingService;
let folder: string;
before(async () => {
  stage = await startFinishingService();
  folder = await mkdtemp(join(tmpdir(), 'videogen-documented-'));
});
after(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

for (const { text, file } of documentedExamples('docs/clients.md', 'python')) {
  const isOpenAI = text.includes('import OpenAI');
  const skip = isOpenAI && !existsSync(openai) && 'the Python clients of OpenAI’s API are not installed';
  test(`the example that writes ${file} creates, waits and downloads, for one charge`, { skip }, async () => {
    const python = isOpenAI ? openai : await pythonWith(...bytePlusPackages);
    const { accountId, key } = await stage.newAccount(1_000);
    await writeFile(join(folder, `${file}.py`), text.replaceAll('https://YOUR-HOST', stage.publicUrl));
    await run(python, [`${file}.py`], { cwd: folder, env: { ...process.env, VIDEOGEN_API_KEY: key } });
    assert.deepEqual(await readFile(join(folder, file)), stage.video);
    assert.deepEqual(await stage.booksOf(accountId), { tasks: 1, balance: 1_000 - 4 * 33 });
  });
}
