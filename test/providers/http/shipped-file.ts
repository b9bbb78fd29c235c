import type { JsonObject } from '../../../src/platform/text/json.ts';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import { type ProviderFile, parseProviderFile } from '../../../src/catalogue/providers/provider-file-schema.ts';
import { createHttpProvider, type HttpProviderDeps } from '../../../src/providers/http/http-provider.ts';
import { providerDeps } from '../loopback-client.ts';

/** A file that comes with the service, such as `kie`. */
export function shippedFile(name: string, changes: object = {}): ProviderFile {
  const path = new URL(import.meta.resolve(`#assets/providers/${name}.yaml`));
  // A file is a map.
  const data = parse(readFileSync(path, 'utf8')) as object;
  const { file, problems } = parseProviderFile({ ...data, ...changes });
  if (file === undefined) throw new Error(`${name}: ${JSON.stringify(problems)}`);
  return file;
}

/** A provider by a file, which warns of nothing unless a test says so. */
export function httpProvider(file: ProviderFile, client: UpstreamClient, changes: HttpChanges = {}) {
  const { baseUrl, model } = file.example;
  const { upstreamModel = model, parameters = {}, ...others } = changes;
  const deps = providerDeps({ kind: 'http', baseUrl, upstreamModel, options: { parameters } }, client);
  return createHttpProvider({ ...deps, file, ...others });
}

type HttpChanges = Partial<HttpProviderDeps> & {
  readonly upstreamModel?: string;
  readonly parameters?: JsonObject;
};
