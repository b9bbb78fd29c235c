import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

test('openapi.json passes the linter without a word', async () => {
  const redocly = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { stderr } = await promisify(execFile)(process.execPath, [redocly, 'lint', 'openapi.json'], { env });
  assert.match(stderr, /Your API description is valid/);
  assert.doesNotMatch(stderr, /warning(s)? |\[\d+\] openapi\.json/);
});
