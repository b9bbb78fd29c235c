import { writeFileSync } from 'node:fs';
import { defaultModels, modelCatalogue } from '../domain/models.ts';
import { openApiDocument } from './openapi.ts';

// Run by `npm run openapi`: writes the description that is committed, of an installation with the default models.
writeFileSync('openapi.json', `${JSON.stringify(openApiDocument(modelCatalogue(defaultModels)), undefined, 2)}\n`);
