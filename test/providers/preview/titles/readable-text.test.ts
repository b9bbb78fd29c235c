import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { readableText } from '../../../../src/providers/preview/titles/readable-text.ts';
import { temporaryFolder } from '../render-support.ts';

test('what the shipped font has is shown as it is; what steers text without being seen is not', async () => {
  assert.deepEqual(await readableText('Привет, Ελλάδα, Việt Nam'), { text: 'Привет, Ελλάδα, Việt Nam', isWhole: true });
  assert.deepEqual(await readableText('a\u202E\u0000 \n\t b\u{10ffff}'), { text: 'a b', isWhole: true });
  assert.deepEqual(await readableText('<b>&amp;</b> 5 €'), { text: '<b>&amp;</b> 5 €', isWhole: true });
});

test('a text that says nothing is empty', async () => {
  for (const text of ['', '.', '... — !', '\u200b'])
    assert.deepEqual(await readableText(text), { text: '', isWhole: true });
});

test('no more is looked at than is ever shown', async () => {
  const { text } = await readableText('word '.repeat(1000));
  assert.ok(text.length < 650 && text.endsWith('…'));
});

test('without a font for them, words are an ellipsis, pictures are left out, and it is known that the text is not whole', async (t) => {
  const shown = await inChild(t, '<fontconfig/>', [
    'A fox \u{1F98A} and 狐, a boat',
    '\u{1F469}\u200D\u{1F680}',
    '一艘纸船漂在雨后的街道上，霓虹灯',
    'قارب ورقي',
    '한국어 नमस्ते สวัสดี שלום',
    'Inter has Ж and Ω',
  ]);
  assert.deepEqual(shown, [
    { text: 'A fox and […] a boat', isWhole: false },
    { text: '', isWhole: false },
    { text: '', isWhole: false },
    { text: '', isWhole: false },
    { text: '', isWhole: false },
    { text: 'Inter has Ж and Ω', isWhole: true },
  ]);
});

const arabicFont = fontWith('0642');

test('a font of the machine is used for what the shipped one lacks', { skip: arabicFont === undefined }, async (t) => {
  const settings = `<fontconfig><dir>${arabicFont}</dir></fontconfig>`;
  assert.deepEqual(await inChild(t, settings, ['قارب ورقي']), [{ text: 'قارب ورقي', isWhole: true }]);
});

test('on a machine that says nothing about its fonts, settings of ours are used and nothing complains', async (t) => {
  const config = new URL('../../../../src/config.js', import.meta.url).href;
  const folder = JSON.stringify(join(await temporaryFolder(t), 'fonts & <more>'));
  const before = `import { provideFontSettings } from ${JSON.stringify(config)}; provideFontSettings(${folder}, '/nowhere');`;
  assert.deepEqual(await inChild(t, undefined, ['A fox'], before), [{ text: 'A fox', isWhole: true }]);
});

/** A folder of this machine with a font that has a character, for the one test that needs such a font. */
function fontWith(character: string): string | undefined {
  try {
    const list = execFileSync('fc-list', [`:charset=${character}`, 'file'], { encoding: 'utf8' });
    return /^(\/.*)\/[^/]+:/m.exec(list)?.[1];
  } catch {
    return undefined;
  }
}

/** What a process finds that has no other fonts than these settings of fontconfig say. It must not complain of anything. */
async function inChild(t: TestContext, settings: string | undefined, texts: readonly string[], before = '') {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'fonts.conf');
  if (settings !== undefined) await writeFile(file, settings);
  const module = new URL('../../../../src/providers/preview/titles/readable-text.js', import.meta.url).href;
  const program = `${before} import { readableText } from ${JSON.stringify(module)};
    const found = [];
    for (const text of ${JSON.stringify(texts)}) found.push(await readableText(text));
    console.log(JSON.stringify(found));`;
  const env = { HOME: folder, XDG_CACHE_HOME: folder, ...(settings === undefined ? {} : { FONTCONFIG_FILE: file }) };
  const child = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env, encoding: 'utf8' });
  assert.equal(child.stderr, '');
  const found: unknown = JSON.parse(child.stdout);
  return found;
}
