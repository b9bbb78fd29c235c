import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvLine } from '../../../src/credits/reports/csv-line.ts';

test('a value that would end its cell or its line is quoted, and one that a spreadsheet would run is text', () => {
  for (const [value, cell] of [
    ['plain', 'plain'],
    [-5, '-5'],
    [undefined, ''],
    ['a,b', '"a,b"'],
    ['a "b"', '"a ""b"""'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['=1', "'=1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@a', "'@a"],
    ['\ta', "'\ta"],
    ['\ra', `"'\ra"`],
    ['a=1', 'a=1'],
  ] as const)
    assert.equal(csvLine(['first', value]), `first,${cell}\r\n`);
});
