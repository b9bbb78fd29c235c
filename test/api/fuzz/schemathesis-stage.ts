import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { python } from '../../fakes/python.ts';
import { startTestService, type TestService } from '../../support/service/test-service.ts';

// Schemathesis derives requests from /openapi.json that it allows, that it forbids, and that are almost allowed. It is a Python program,
// installed with the other Python packages of the tests.
const program = python.includes('/') ? join(dirname(python), 'schemathesis') : 'schemathesis';
const isThere = spawnSync(program, ['--version']).status === 0;
/** The time of a whole file; the runner would kill it then. */
const limitMs = 20 * 60_000;

// None of them checks that valid data is accepted: an account without credits is refused for other reasons than the schema.
const checks = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance']
  .concat([
    'response_headers_conformance',
    'response_schema_conformance',
    'negative_data_rejection',
    'unsupported_method',
  ])
  .concat(['ignored_auth', 'use_after_free']);

export const skip = !isThere && 'schemathesis is not installed';
export const operatorsPaths = '^/api/admin/';

export async function withService(work: (service: TestService) => Promise<void>): Promise<void> {
  const service = await startTestService();
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

/** Its own list of rejections, and those of a request that is too large to be read. */
const rejections = ['400', '401', '403', '404', '405', '406', '409', '415', '422', '428', '429', '5xx'].concat([
  '413',
  '414',
  '431',
]);

export async function schemathesis(
  description: string,
  baseUrl: string,
  key: string,
  extra: readonly string[],
): Promise<{ code: number; output: string }> {
  const config = join(await mkdtemp(join(tmpdir(), 'videogen-schemathesis-')), 'schemathesis.toml');
  await writeFile(config, `[checks]\nnegative_data_rejection.expected-statuses = ${JSON.stringify(rejections)}\n`);
  const args = [
    '--config-file',
    config,
    'run',
    description,
    '--url',
    baseUrl,
    '--header',
    `Authorization: Bearer ${key}`,
  ]
    .concat(['--checks', checks.join(','), '--generation-deterministic', ...extra])
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
