import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestAccount } from '../support/service.ts';
import { runsWholeMatrix } from '../support/tier.ts';
import { operatorsPaths, schemathesis, skip, withService } from './schemathesis-stage.ts';

test('whatever follows from the OpenAPI document is answered as it says, never with a 5xx', { skip }, async () => {
  await withService(async ({ database, baseUrl }) => {
    const { key } = await createTestAccount(database, 0);
    const extra = ['--exclude-path-regex', operatorsPaths, '--max-examples', String(runsWholeMatrix ? 15 : 3)];
    const { code, output } = await schemathesis(`${baseUrl}/openapi.json`, baseUrl, key, extra);
    assert.equal(code, 0, output);
  });
});
