import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestAccount } from '../../support/service/test-service.ts';
import { runsWholeMatrix } from '../../support/tier.ts';
import { operatorsPaths, schemathesis, skip, withService } from './schemathesis-stage.ts';

test('whatever follows from the OpenAPI document is answered as it says, never with a 5xx', { skip }, async () => {
  await withService(async ({ database, baseUrl }) => {
    const { key } = await createTestAccount(database, 0);
    // Random requests take a third of the time, and run in `long` only. `http/fuzz` sends some in every run.
    const choice = runsWholeMatrix ? ['--max-examples', '15'] : ['--phases', 'examples,coverage,stateful'];
    const extra = ['--exclude-path-regex', operatorsPaths, ...choice];
    const { code, output } = await schemathesis(`${baseUrl}/openapi.json`, baseUrl, key, extra);
    assert.equal(code, 0, output);
  });
});
