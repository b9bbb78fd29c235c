import type { WithModels } from '../../../src/catalogue/models/model-type-and-name-lookup.ts';
import type { OpenApiDescription } from '../../../src/api/docs/openapi-types-and-lookups.ts';
import { operationSamples } from '../../../src/api/docs/operation-section.ts';
import { referenceEntryOf } from '../../../src/api/docs/reference-page.ts';
import { endpoints } from '../../../src/api/endpoints.ts';
import { openApiDocument } from '../../../src/api/openapi.ts';

export type ReferenceSample = {
  readonly operationId: string;
  readonly path: string;
  readonly sh: string;
  readonly ts: string;
  readonly python: string;
};

/** The samples of every endpoint, as the reference shows them. */
export function referenceSamples(offer: WithModels, baseUrl: string): readonly ReferenceSample[] {
  const description = JSON.parse(JSON.stringify(openApiDocument(offer))) as OpenApiDescription; // our own generator wrote it
  return endpoints.map((endpoint) => {
    const samples = operationSamples(description, referenceEntryOf(endpoint, description), {
      baseUrl,
      usesOwnClients: true,
    });
    const textOf = (language: string) => samples.find((one) => one.language === language)?.text ?? '';
    const { operationId, path } = endpoint;
    return { operationId, path, sh: textOf('sh'), ts: textOf('ts'), python: textOf('python') };
  });
}
