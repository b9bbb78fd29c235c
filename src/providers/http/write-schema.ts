import { writeFileSync } from 'node:fs';
import { providerFileJsonSchema } from './file-schema.ts';

// Run by `npm run openapi`: writes the description that is committed of a file of the kind `http`.
writeFileSync('docs/provider-file.schema.json', `${JSON.stringify(providerFileJsonSchema(), undefined, 2)}\n`);
