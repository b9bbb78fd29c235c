import type { JsonValue } from '../../../src/platform/text/json.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noMedia } from '../../../src/catalogue/media/media-by-role.ts';
import {
  fillPlaceholders,
  fieldsPassedByTemplate,
  placeholderProblems,
  placeholdersOfField,
  type PlaceholderValues,
  usesPlaceholder,
} from '../../../src/catalogue/providers/input-template-placeholders.ts';
import { inputFieldNames, withDefaults } from '../../../src/catalogue/input/task-input.ts';

const task: PlaceholderValues = {
  input: {
    ...withDefaults({ prompt: 'a {{seed}} lighthouse', duration: 5, generateAudio: false, ratio: '4:3' }),
    negativePrompt: 'fog',
    options: { steps: 30, style: 'natural', turbo: false },
  },
  seed: 7,
  size: { widthPx: 1112, heightPx: 834 },
  fps: 16,
  media: {
    images: ['first', 'second'],
    firstFrame: 'frame 0',
    lastFrame: 'frame 1',
    videos: ['clip'],
    audios: ['voice', 'music'],
  },
  prefix: 'videogen/x',
};

describe('placeholders', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['{{prompt}}', 'a {{seed}} lighthouse'],
    ['{{seconds}}', 5],
    ['{{fps}}', 16],
    ['{{frames}}', 80],
    ['{{frames:4}}', 81],
    ['{{frames:8}}', 81],
    ['{{width}}', 1112],
    ['{{width:32}}', 1120],
    ['{{height:16}}', 832],
    ['{{height:4000}}', 4000],
    ['{{ratio}}', '4:3'],
    ['{{generateAudio}}', false],
    ['{{negativePrompt}}', 'fog'],
    ['{{resolution}}', '720p'],
    ['{{option:steps}}', 30],
    ['{{option:style}}', 'natural'],
    ['{{option:turbo}}', false],
    ['{{seed}}', 7],
    ['{{image}}', 'first'],
    ['{{image:2}}', 'second'],
    ['{{images}}', ['first', 'second']],
    ['{{firstFrame}}', 'frame 0'],
    ['{{lastFrame}}', 'frame 1'],
    ['{{video}}', 'clip'],
    ['{{video:1}}', 'clip'],
    ['{{audio:1}}', 'voice'],
    ['{{videos}}', ['clip']],
    ['{{audio:2}}', 'music'],
    ['{{audios}}', ['voice', 'music']],
    ['{{prefix}}', 'videogen/x'],
  ];
  for (const [text, expected] of cases) {
    test(`${text} becomes ${JSON.stringify(expected)}`, () => {
      assert.deepEqual(fillPlaceholders({ value: [text] }, task), { value: [expected] });
    });
  }

  test('that stand beside other text, or are none, stay as they are', () => {
    const template = { a: 'x {{seed}}', x: '{{seed}} x', b: '{{ seed }}', c: '{{}}', d: 1, e: null, f: true };
    assert.deepEqual(fillPlaceholders(template, task), template);
  });

  test('of an image that the task does not have are left out', () => {
    const template = { keep: 1, last: '{{image:3}}', all: ['{{image:1}}', '{{image:3}}'] };
    assert.deepEqual(fillPlaceholders(template, task), { keep: 1, all: ['first'] });
  });

  test('without a value are left out', () => {
    const least = { ...task, input: withDefaults({ prompt: 'a fox' }), media: noMedia };
    const names = ['negativePrompt', 'firstFrame', 'lastFrame', 'image', 'video', 'audio:1', 'option:steps'];
    const template = Object.fromEntries(['prompt', ...names].map((name) => [name, `{{${name}}}`]));
    assert.deepEqual(fillPlaceholders(template, least), { prompt: 'a fox' });
    assert.deepEqual(fillPlaceholders({ option: '{{option:toString}}', list: '{{videos}}' }, least), { list: [] });
  });

  test('in the values of a task are not filled in again', () => {
    assert.deepEqual(fillPlaceholders(['{{prompt}}'], task), ['a {{seed}} lighthouse']);
  });

  test('with a wrong name or a number where none belongs are faults, each once', () => {
    const template = { a: '{{promt}}', b: [{ c: '{{seed:3}}' }], d: '{{promt}}', e: '{{prompt}}', f: '{{toString}}' };
    const [misspelt, numbered, inherited, ...others] = placeholderProblems(template);
    assert.equal(misspelt, 'unknown placeholder, did you mean prompt?');
    assert.equal(numbered, 'the placeholder seed takes no number');
    const needs = { a: '{{audio}}', b: '{{option}}', c: '{{image:x}}', d: '{{width:0}}', e: '{{audio:1}}' };
    assert.deepEqual(placeholderProblems(needs), [
      'the placeholder audio needs a number, as in {{audio:1}}',
      'the placeholder option needs a name, as in {{option:steps}}',
      'the placeholder image takes a number from 1 to 9999',
      'the placeholder width takes a number from 1 to 9999',
    ]);
    const edges = { a: '{{image:9999}}', b: '{{video:10000}}', c: '{{frames:4x}}', d: '{{height:x4}}' };
    assert.deepEqual(
      placeholderProblems(edges),
      ['video', 'frames', 'height'].map((name) => `the placeholder ${name} takes a number from 1 to 9999`),
    );
    assert.match(inherited ?? '', /^unknown placeholder, allowed: prompt, negativePrompt/);
    assert.deepEqual(others, []);
  });

  test('are found wherever they are', () => {
    assert.equal(usesPlaceholder({ a: [{ b: '{{image:2}}' }] }, ['image', 'images']), true);
    assert.equal(usesPlaceholder({ a: [{ b: '{{prompt}}' }] }, ['image', 'images']), false);
  });
});

describe('the fields that a template passes on', () => {
  test('are those whose placeholders it has, and of the options the named ones', () => {
    const template = {
      a: ['{{prompt}}', '{{frames:4}}'],
      b: { c: '{{audio:2}}', d: '{{option:steps}}', e: '{{option:style}}' },
    };
    const { fields, options } = fieldsPassedByTemplate(template);
    assert.deepEqual([...fields].toSorted(), ['audioUrls', 'duration', 'options', 'prompt']);
    assert.deepEqual([...options], ['steps', 'style']);
    assert.equal(fieldsPassedByTemplate({ a: 'x {{prompt}}' }).fields.size, 0);
  });

  test('can be all, each by every placeholder that is declared for it', () => {
    for (const [field, names] of Object.entries(placeholdersOfField))
      for (const name of names) {
        const argument = name === 'option' ? ':steps' : name === 'audio' ? ':1' : '';
        const template = { value: `{{${name}${argument}}}` };
        assert.deepEqual(placeholderProblems(template), []);
        // Width and height follow the resolution and the ratio.
        assert.ok(
          [...fieldsPassedByTemplate(template).fields].some((one) => one === field),
          `${name} passes on ${field}`,
        );
        if (!['width', 'height'].includes(name)) assert.equal(fieldsPassedByTemplate(template).fields.size, 1);
        const filled = fillPlaceholders(template, task) as { readonly value: JsonValue };
        assert.notEqual(filled.value, undefined, name);
      }
    assert.deepEqual(Object.keys(placeholdersOfField).toSorted(), inputFieldNames.toSorted());
  });
});
