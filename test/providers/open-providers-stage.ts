import { readCatalogueOrThrow } from '../../src/catalogue/file/read-catalogue-file.ts';
import type { Catalogue } from '../../src/catalogue/file/catalogue-schema-and-types.ts';
import { createOpenProviders, type OpenProvidersDeps } from '../../src/providers/open-providers.ts';
import { heldProvider } from '../support/tasks/fake-providers.ts';

/** A catalogue with the files that it refers to, by their names beside it. */
export function catalogueFrom(catalogue: object, files: Readonly<Record<string, object>> = {}): Catalogue {
  const texts: Readonly<Record<string, object>> = { catalogue, ...files };
  return readCatalogueOrThrow({
    path: '/x/catalogue',
    readText: (path) => JSON.stringify(texts[path.slice('/x/'.length)]),
  });
}

/** The providers of the catalogue in force, whose secrets are all the same. */
export function openProviders(
  catalogue: () => Catalogue,
  openClient: OpenProvidersDeps['openClient'],
  secret = 'secret',
  emit: OpenProvidersDeps['emit'] = () => {},
): ReturnType<typeof createOpenProviders> {
  return createOpenProviders({
    catalogue,
    preview: heldProvider({ onRun: () => {} }),
    readSecret: () => () => secret,
    openClient,
    emit,
    warn: () => {},
  });
}
