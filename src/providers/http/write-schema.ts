import { writeFileSync } from 'node:fs';
import { providerFileJsonSchema } from '../../catalogue/providers/provider-file-schema.ts';

// Run by `npm run openapi`: writes the committed schema of the files that
// providers of the kind `http` use.
writeFileSync('docs/provider-file.schema.json', `${JSON.stringify(providerFileJsonSchema(), undefined, 2)}\n`);
