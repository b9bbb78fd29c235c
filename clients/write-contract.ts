import { readFileSync, writeFileSync } from 'node:fs';
import { consoleContractSource } from './console-contract.ts';
import { contractSource } from './client-contract.ts';
import type { Description } from './contract-source.ts';

// Run by `npm run openapi`, after it has written the description: the types of client and console follow it.
const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description; // our own generator wrote it
writeFileSync('clients/typescript/src/contract.ts', contractSource(description));
writeFileSync('src/console/api/contract.ts', consoleContractSource(description));
