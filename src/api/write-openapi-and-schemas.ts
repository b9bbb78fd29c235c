import { writeFileSync } from 'node:fs';
import { catalogueJsonSchema } from '../catalogue/file/catalogue-schema-and-types.ts';
import { defaultModels, indexModelsByName } from '../catalogue/models/model-type-and-name-lookup.ts';
import { providerFileJsonSchema } from '../catalogue/providers/provider-file-schema.ts';
import { openApiDocument } from './openapi.ts';

// Run by `npm run openapi`: writes the committed descriptions of the API (with the built-in catalogue), of the catalogue file and of provider files.
writeFileSync(
  'openapi.json',
  `${JSON.stringify(openApiDocument({ models: indexModelsByName(defaultModels) }), undefined, 2)}\n`,
);
writeFileSync('docs/catalogue.schema.json', `${JSON.stringify(catalogueJsonSchema(), undefined, 2)}\n`);
writeFileSync('docs/provider-file.schema.json', `${JSON.stringify(providerFileJsonSchema(), undefined, 2)}\n`);
