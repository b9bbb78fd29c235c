import { readFileSync, writeFileSync } from 'node:fs';
import { consoleContractSource } from './console-contract.ts';
import { contractSource } from './client-contract.ts';
import type { Description } from './contract-source.ts';

// Run by the build before it compiles, and by `npm run openapi`: the types of client and console, which Git ignores.
const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description; // our own generator wrote it
writeFileSync('clients/typescript/src/contract.ts', contractSource(description));
writeFileSync('src/console/api/contract.ts', consoleContractSource(description));
