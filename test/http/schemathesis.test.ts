import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { createTestAccount, startTestService } from '../support/service.ts';

// Schemathesis reads /openapi.json and asks what it allows, what it forbids, and what lies just beside. It is a Python
// program: where it is not installed (.ci/run installs it) this test says so and is skipped.
const program = 'schemathesis';
const isThere = spawnSync(program, ['--version']).status === 0;
const limitMs = 300_000;

// Whether valid data is accepted is not asked: an account without credits is refused for other reasons than the schema.
const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']
  .concat([
    'response_headers_conformance',
    'response_schema_conformance',
    'negative_data_rejection',
    'unsupported_method',
  ])
  .concat(['ignored_auth', 'use_after_free']);

test(
  'whatever follows from the OpenAPI document is answered as it says, never with a 5xx',
  { skip: !isThere && 'schemathesis is not installed' },
  async () => {
    const service = await startTestService();
    try {
      const { key } = await createTestAccount(service.database, 0);
      const { code, output } = await schemathesis(service.baseUrl, key);
      assert.equal(code, 0, output);
    } finally {
      await service.close();
    }
  },
);

function schemathesis(baseUrl: string, key: string): Promise<{ code: number; output: string }> {
  const args = ['run', `${baseUrl}/openapi.json`, '--header', `Authorization: Bearer ${key}`]
    .concat(['--checks', checks.join(','), '--max-examples', '15', '--generation-deterministic'])
    .concat(['--suppress-health-check', 'all', '--request-timeout', '70', '--no-color']);
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { timeout: limitMs, maxBuffer: 64 * 1024 * 1024, cwd: tmpdir() },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, output: `${stdout}\n${stderr}` });
      },
    );
  });
}
