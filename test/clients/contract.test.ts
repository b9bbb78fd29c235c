import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { consoleContractSource } from '../../clients/console-contract.ts';
import { contractSource } from '../../clients/client-contract.ts';
import type { Description } from '../../clients/contract-source.ts';

// Tests run in the root of the project.
const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description; // our own generator wrote it

test('the client’s types are what openapi.json says today; "npm run openapi" writes them', () => {
  assert.equal(readFileSync('clients/typescript/src/contract.ts', 'utf8'), contractSource(description));
});

test('and so are those of the console', () => {
  assert.equal(readFileSync('src/console/api/contract.ts', 'utf8'), consoleContractSource(description));
});

test('a type that has no counterpart yet is not passed over', () => {
  const schemas = { ...description.components.schemas, Limits: { type: 'tuple' } };
  assert.throws(() => contractSource({ ...description, components: { ...description.components, schemas } }), /tuple/);
});
