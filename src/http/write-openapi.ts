import { writeFileSync } from 'node:fs';
import { catalogueJsonSchema } from '../domain/catalogue/models.ts';
import { defaultModels, modelCatalogue } from '../domain/models.ts';
import { openApiDocument } from './openapi.ts';

// Run by `npm run openapi`: writes the descriptions that are committed, of the API of an installation with the default models and of
// the catalogue file.
writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(modelCatalogue(defaultModels)), undefined, 2)}\n`);
writeFileSync('docs/catalogue.schema.json', `${JSON.stringify(catalogueJsonSchema(), undefined, 2)}\n`);
