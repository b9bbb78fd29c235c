import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkFiles } from './language/check-files.ts';
import { findingsIn } from './language/rules.ts';
import { piecesOfMarkdown, piecesOfOpenApi, piecesOfTypeScript } from './language/source-text.ts';

// The vocabulary of the code and its documents, as test/language/rules.ts lists it. `node dist/test/language/command.js PATH…` prints
// the findings of a part with a remedy for each.

const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'docs'];
const prose = [...documents, 'ops', 'examples', 'clients', '.github', '.env.example'];
const code = ['src', 'activities', 'workflows', 'openapi.json'];

/** Legitimate uses that no rule can tell from others. Each has its reason. */
const allowed: readonly { readonly file: string; readonly word: string; readonly reason: string }[] = [];

test('code and documents use the vocabulary of the project', () => {
  const findings = checkFiles([...prose, ...code])
    .filter(({ file, word }) => !allowed.some((one) => one.file === file && one.word === word))
    .map(({ file, line, word, text, instead }) => `${file}:${line}: ${word}: ${text} (instead: ${instead})`);
  assert.ok(findings.length === 0, `\n${findings.join('\n')}`);
});

describe('the check of the language', () => {
  const wordsIn = (source: string) =>
    piecesOfTypeScript(source)
      .flatMap(findingsIn)
      .map(({ word }) => word);

  test('finds a banned word in a comment, a message, a template, a name and a path of a value', () => {
    assert.deepEqual(wordsIn('// The row is kept.'), ['kept']);
    assert.deepEqual(wordsIn(`log.info('a worker was told')`), ['told']);
    assert.deepEqual(wordsIn('fail(`task ${taskId} is gone`)'), ['gone']);
    assert.deepEqual(wordsIn('const keptUntil = row.media_gone'), ['kept', 'gone']);
    assert.deepEqual(wordsIn(`type State = 'gone'`), ['gone']);
  });

  test('finds a phrase that continues on the next line', () => {
    assert.deepEqual(wordsIn('/**\n * The worker gives\n * up after a minute.\n */'), ['gives up']);
    assert.deepEqual(wordsIn('// Both are sent at\n// once.'), ['at once']);
  });

  test('finds comments that are fragments, and no others', () => {
    assert.deepEqual(wordsIn('/** What a caller may do. */'), ['What …']);
    assert.deepEqual(wordsIn('// How long a job waits.'), ['How …']);
    assert.deepEqual(wordsIn('// For tests.'), ['For …']);
    assert.deepEqual(wordsIn('// Without an index, PostgreSQL would read the whole table.'), []);
    assert.deepEqual(wordsIn('// Heartbeat timeout: how soon another worker takes over after a crash.'), []);
  });

  test('leaves alone terms, vendor names, imports and regular expressions', () => {
    assert.deepEqual(wordsIn('const ms = Math.round(value); // npm run look takes place in the first place'), []);
    assert.deepEqual(wordsIn(`import { KeyRound } from './media-gone.ts';`), []);
    assert.deepEqual(wordsIn('const pattern = /told|it\'s gone/; const placeholder = "defaults"'), []);
    assert.deepEqual(wordsIn('// PostgreSQL is shut down. Answers 410 Gone after a round trip.'), []);
    assert.deepEqual(wordsIn('const share = total / told / 2'), ['told']);
  });

  test('reads the prose of a document, the comments in its code blocks, and its headings', () => {
    const markdown = '## How to begin\n\nYou are told `kept` [here](gone.md).\n\n```sh\nrun --kept # it is gone\n```\n';
    assert.deepEqual(
      piecesOfMarkdown(markdown)
        .flatMap(findingsIn)
        .map(({ word }) => word),
      ['told', 'heading', 'gone'],
    );
  });

  test('finds a summary that begins without a verb, and a field whose description is a fragment', () => {
    assert.deepEqual(wordsIn(`summary: 'How the installation is'`), ['summary']);
    assert.deepEqual(wordsIn(`summary: 'Creates a task and charges it'`), []);
    assert.deepEqual(wordsIn(`meta({ description: 'For one attempt.' })`), ['For …']);
    assert.deepEqual(wordsIn(`meta({ description: 'Whether the task has ended.' })`), []);
  });

  test('reads descriptions and fields of the API', () => {
    const openApi = '{ "kept": { "description": "Who created\\nthe task" }, "summary": "Asks the provider" }';
    assert.deepEqual(
      piecesOfOpenApi(openApi)
        .flatMap(findingsIn)
        .map(({ word }) => word),
      ['kept', 'Who …', 'asks'],
    );
  });
});
