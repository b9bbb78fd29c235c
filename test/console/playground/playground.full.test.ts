import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import type { Page } from 'playwright-core';
import { findTask } from '../../../src/tasks/task-rows.ts';
import { python } from '../../fakes/python.ts';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import { becomes, draftHas, focused, startVisitor, type Visitor } from '../../support/console/console-visitor.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

const skip = skipWithoutBrowser();
const run = promisify(execFile);

let service: TestService;
let visitor: Visitor;
let folder: string;
before(async () => {
  if (skip !== false) return;
  service = await startTestService();
  visitor = await startVisitor(service);
  folder = await mkdtemp(join(tmpdir(), 'videogen-samples-'));
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await rm(folder, { recursive: true });
  await visitor.close();
  await service.close();
});

/** Whatever quotes, shells and languages make something of. */
const prompt = `[[instant]] It's a "fox" \\ and a \\n; $HOME \`id\` $(id) \${x} %s 🦊 日本\nin two lines`;

/** Saves the program that a tab shows, and runs it as a reader would. */
const programs = {
  curl: async (text: string, env: NodeJS.ProcessEnv) => (await run('sh', ['-c', text], { env })).stdout,
  TypeScript: async (text: string, env: NodeJS.ProcessEnv) => {
    const file = join(folder, 'sample.mjs');
    await writeFile(file, (await transform(text, { loader: 'ts' })).code);
    return (await run(process.execPath, [file], { env })).stdout;
  },
  Python: async (text: string, env: NodeJS.ProcessEnv) => {
    const file = join(folder, 'sample.py');
    await writeFile(file, text);
    return (await run(python, [file], { env })).stdout;
  },
} as const;

async function textOf(page: Page, language: string): Promise<string> {
  await page.getByRole('tab', { name: language }).click();
  return page.locator('pre[aria-label="' + language + ' text"]').innerText();
}

test(
  'the request as curl, TypeScript and Python runs, and asks for exactly what the button asks for',
  { skip },
  async () => {
    const { accountId, key } = await createTestAccount(service.database, 10_000);
    const { page, errors, open } = await visitor.signedIn({ [accountId]: 'owner' });
    await open(`/a/${accountId}/playground`);
    await page.getByLabel('Prompt').fill(prompt);
    await page.getByRole('slider', { name: /Length/ }).fill('4');
    await page.getByRole('radio', { name: /9:16|Portrait/ }).check({ force: true });
    await page.getByRole('checkbox', { name: 'Sound' }).uncheck();
    const env = { ...process.env, VIDEOGEN_API_KEY: key };
    const made: string[] = [];
    for (const [language, start] of Object.entries(programs)) {
      const output = await start(await textOf(page, language), env);
      const [taskId] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(output) ?? [];
      assert.ok(taskId, `${language}: ${output}`);
      made.push(taskId);
    }
    await page.getByRole('button', { name: /^Generate/ }).click();
    await page.getByRole('link', { name: 'View task' }).waitFor();
    made.push(new URL(page.url()).searchParams.get('tasks') ?? '');
    const params = await Promise.all(made.map(async (id) => (await findTask(service.database.db, id))?.param));
    assert.equal(params[0]?.input.prompt, prompt);
    assert.deepEqual(
      [params[0]?.input.duration, params[0]?.input.ratio, params[0]?.input.generateAudio],
      [4, '9:16', false],
    );
    for (const param of params) assert.deepEqual(param, params[0]);

    await page.getByText('Task record (JSON)').click();
    const record = await page.getByRole('region', { name: 'recordInfo text' }).innerText();
    assert.equal((JSON.parse(record) as { taskId: string }).taskId, made.at(-1));
    assert.deepEqual(errors, []);
  },
);

test('the form offers what the model can do, and what is run again survives a reload', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 10_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  const models = (await page.evaluate(async (account) => {
    const answer = await fetch('/api/v1/models', { headers: { 'videogen-account': account } });
    return ((await answer.json()) as { data: { models: unknown } }).data.models;
  }, accountId)) as readonly {
    title: string;
    prices: { rates: { creditsPerSecond: number }[] }[];
    inputSchema: { properties: Record<'duration' | 'ratio', { minimum: number; enum: string[] }> };
  }[];
  assert.ok(models.length > 1);
  for (const { title, prices, inputSchema } of models) {
    const { duration, ratio } = inputSchema.properties;
    await page.getByRole('radio', { name: title, exact: true }).check({ force: true });
    const slider = page.getByRole('slider', { name: /Length/ });
    const lengths = async () => [await slider.getAttribute('min'), await slider.getAttribute('max')];
    assert.equal(duration.minimum, 3.5);
    await becomes('the lengths', lengths, ['4', '15']);
    const shapes = page.getByRole('radiogroup', { name: 'Aspect ratio' }).getByRole('radio');
    await becomes('the number of shapes', () => shapes.count(), ratio.enum.length);
    const price = (prices[0]?.rates[0]?.creditsPerSecond ?? 0) * 15;
    await slider.fill('15');
    await page.getByRole('button', { name: `Generate · ${price.toLocaleString('en')} credits` }).waitFor();
    await page.getByText(`${(10_000 - price).toLocaleString('en')}\u00A0credits remaining`).waitFor();
  }
  await page.getByLabel('Prompt').fill('[[instant]] the first one');
  await page.getByRole('button', { name: /^Generate/ }).click();
  await page.getByRole('link', { name: 'View task' }).click();
  await page.getByRole('heading', { name: 'Task Succeeded' }).waitFor();
  const taskPage = page.url();
  await page.getByRole('link', { name: 'Playground', exact: true }).click();
  await page.getByLabel('Prompt').fill('another draft');
  await page.goto(taskPage);
  await page.getByRole('link', { name: 'Run again' }).click();
  await page.getByRole('button', { name: /^Generate/ }).waitFor();
  await page.waitForURL((url) => !url.searchParams.has('from'));
  await becomes('the prompt', () => page.getByLabel('Prompt').inputValue(), '[[instant]] the first one');
  await draftHas(page, '[[instant]] the first one');
  await page.reload();
  await becomes('the prompt', () => page.getByLabel('Prompt').inputValue(), '[[instant]] the first one');
});

test('a balance that does not cover the video disables the button, and says why', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 100);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  await page.getByLabel('Prompt').fill('too dear');
  await page.getByText('Your balance of 100 credits doesn’t cover this video.').waitFor();
  await page.getByRole('button', { name: /^Generate/, disabled: true }).waitFor();
});

test('the callback of the form stays open while its URL is typed anew, and a fault opens it', { skip }, async () => {
  const { accountId } = await createTestAccount(service.database, 1_000);
  const { page, open } = await visitor.signedIn({ [accountId]: 'owner' });
  await open(`/a/${accountId}/playground`);
  await page.getByLabel('Prompt').fill('a lighthouse');
  const summary = page.getByText('Callback', { exact: true });
  const field = page.getByLabel('callBackUrl');
  assert.equal(await field.isVisible(), false);
  await summary.click();
  await field.fill('https://example.com/hook');
  await field.fill('');
  await focused(field);
  await field.fill('ftp://example.com');
  await draftHas(page, 'ftp://example.com');
  await page.reload();
  await field.waitFor();
  await summary.click();
  await field.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: /^Generate/ }).click();
  await field.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
});
