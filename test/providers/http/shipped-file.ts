import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { type ProviderFile, readProviderFile } from '../../../src/providers/http/file-schema.ts';

/** A file that comes with the service, such as `kie`. */
export function shippedFile(name: string, changes: object = {}): ProviderFile {
  const path = new URL(import.meta.resolve(`#assets/providers/${name}.yaml`));
  // A file is a map.
  const data = parse(readFileSync(path, 'utf8')) as object;
  const { file, problems } = readProviderFile({ ...data, ...changes });
  if (file === undefined) throw new Error(`${name}: ${JSON.stringify(problems)}`);
  return file;
}
