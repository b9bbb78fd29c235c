import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allowedValuesText,
  fitsCharacters,
  isBlank,
  isStorableText,
  missingOrInvalidMessage,
  urlSchema,
} from '../../../src/catalogue/input/url-schema-and-text-checks.ts';

const notHttp = 'must be an http or https URL';
const upload = 'upload a file with POST /api/v1/uploads (over MCP, upload_media), and give the url of the response';
const refuse = (url: string) => (url.includes('//10.') ? 'must not be a private address' : undefined);

function messageOf(url: unknown, isMedia = false): string | undefined {
  return urlSchema(refuse, isMedia).safeParse(url).error?.issues[0]?.message;
}

test('an address of at most 8,192 characters that is not refused is taken', () => {
  const long = `https://media.example/${'a'.repeat(8192 - 'https://media.example/'.length)}`;
  for (const url of ['https://media.example/a.png', 'HTTP://media.example', 'http://media.example/%20?a=b#c', long])
    for (const isMedia of [false, true]) assert.equal(messageOf(url, isMedia), undefined);
  for (const [url, message] of [
    [`${long}a`, 'must be at most 8192 characters'],
    ['http://10.0.0.1/', 'must not be a private address'],
    ['https://', notHttp],
    ['https:media.example', notHttp],
    ['ftp://media.example', notHttp],
    ['media.example', notHttp],
    ['', notHttp],
    [7, notHttp],
    [null, notHttp],
    [undefined, 'is required'],
    ...[
      ' https://media.example',
      'https://media.example/a b',
      'https://media.example/\n',
      'https://media.example/\u0085',
    ]
      .concat(['https://media.example/\0', 'https://media.example/\ud800'])
      .map((spaced) => [spaced, 'must not contain white space or control characters'] as const),
  ] as const)
    for (const isMedia of [false, true]) assert.equal(messageOf(url, isMedia), message, JSON.stringify(url));
});

test('a file, or its path, instead of the address of media is refused with how to upload one', () => {
  const paths = [
    '/tmp/a',
    './a',
    '../a',
    '~/a',
    '\\\\host\\a',
    'C:\\a',
    'file:///a',
    'blob:1',
    ' data:image/png,a',
    'DATA:x',
  ];
  const names = ['jpg', 'jpeg', 'png', 'webp', 'heic', 'mp4', 'mov', 'mp3', 'wav', 'm4a', 'PNG'].map(
    (end) => `a b.${end}`,
  );
  for (const file of [...paths, ...names]) {
    assert.equal(messageOf(file, true), `${notHttp}; ${upload}`, file);
    assert.equal(messageOf(file), notHttp, file);
  }
  for (const other of ['//media.example/a', 'a.gif', 'apng', 'a.png.txt', 'ftp://media.example/a', 'a cat'])
    assert.equal(messageOf(other, true), notHttp, other);
  assert.equal(messageOf('https:a.png', true), notHttp);
});

test('a text is blank if nothing of it can be seen', () => {
  for (const text of ['', ' \n\t\u00a0', '\u200b\u00ad', '\u2800', '\0\u001b', '\u115f\u3164'])
    assert.ok(isBlank(text), JSON.stringify(text));
  for (const text of ['a', ' . ', '\u200ba', 'a\u200b']) assert.ok(!isBlank(text), JSON.stringify(text));
});

test('a text that the database cannot store is recognized', () => {
  assert.ok(isStorableText('a 🐈\n'));
  for (const text of ['a\0', '\ud83d', '\udc08a']) assert.ok(!isStorableText(text));
});

test('characters are counted as code points', () => {
  for (const [text, fits] of [
    ['', true],
    ['ab', true],
    ['🐈🐈', true],
    ['abc', false],
    ['🐈🐈🐈', false],
    ['abcdef', false],
  ] as const)
    assert.equal(fitsCharacters(text, 2), fits, text);
});

test('messages differ for a missing and an invalid value, and for one allowed value and several', () => {
  for (const message of [
    missingOrInvalidMessage('must be 1'),
    missingOrInvalidMessage((input) => `must be 1, not ${String(input)}`),
  ])
    assert.equal(message({}), 'is required');
  assert.equal(missingOrInvalidMessage('must be 1')({ input: null }), 'must be 1');
  assert.equal(missingOrInvalidMessage((input) => `no ${String(input)}`)({ input: 2 }), 'no 2');
  assert.deepEqual([allowedValuesText([5]), allowedValuesText(['a', 'b'])], ['5', 'one of a, b']);
});
