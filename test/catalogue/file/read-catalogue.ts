import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { readCatalogueOrThrow } from '../../../src/catalogue/file/read-catalogue-file.ts';
import type { Catalogue } from '../../../src/catalogue/file/catalogue-schema-and-types.ts';
import { ConfigError } from '../../../src/platform/setup-errors-and-error-messages.ts';

type Files = Readonly<Record<string, string>>;

/** Reads a catalogue that stands beside the other files. */
export function readCatalogue(text: string | object, files: Files = {}): Catalogue {
  const all: Files = { ...files, '/etc/videogen/catalogue': typeof text === 'string' ? text : JSON.stringify(text) };
  const readText = (path: string) => {
    const found = all[path];
    if (found === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return found;
  };
  return readCatalogueOrThrow({ path: '/etc/videogen/catalogue', readText });
}

/** The faults of a catalogue, without the file's name; none when it is good. */
export function faultsOf(text: string | object, files: Files = {}): readonly string[] {
  try {
    readCatalogue(text, files);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError, inspect(error));
    return error.problems.map((fault) => fault.replace('/etc/videogen/catalogue: ', ''));
  }
}
