import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../src/run/config/config.ts';
import { type DoctorRole, runDoctorChecks, examineMachine } from '../../../src/run/doctor/doctor.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const servers = ['database', 'temporal'];
const files = ['result store', 'result store space', 'work folder', 'temporary folder'];
const machine = ['node', 'memory'];

const rows: readonly [role: DoctorRole, queues: string, checks: readonly string[]][] = [
  ['api', 'tasks', ['public address', 'callback addresses', 'catalogue', ...servers, ...files, ...machine]],
  ['worker', 'callbacks', ['callback addresses', 'catalogue', ...servers, ...machine]],
  ['worker', 'tasks', ['catalogue', ...servers, ...files, 'ffmpeg', ...machine]],
  ['worker', 'generation', ['image addresses', 'catalogue', ...servers, ...files, 'ffmpeg', 'fonts', ...machine]],
  ['worker', 'generation-remote', ['image addresses', 'catalogue', ...servers, ...files, 'ffmpeg', ...machine]],
  [
    'all',
    'tasks',
    [
      'public address',
      'callback addresses',
      'image addresses',
      'catalogue',
      ...servers,
      ...files,
      'ffmpeg',
      'fonts',
      ...machine,
    ],
  ],
];

for (const [role, queues, checks] of rows) {
  test(`doctor checks for the role ${role}, with the queue ${queues}, what this process needs`, async (t) => {
    const folder = await temporaryFolder(t);
    await mkdir(join(folder, 'work'), { mode: 0o700 });
    const config = readConfig({
      PATH: process.env['PATH'],
      VIDEOGEN_DATA: folder,
      WORKER_QUEUES: queues,
    });
    const findings = await runDoctorChecks(
      config,
      { databaseUrl: undefined, temporal: undefined, secret: undefined },
      role,
    );
    assert.deepEqual(
      findings.map(({ check }) => check),
      checks,
    );
    const unknown = findings.filter(({ state }) => state === 'unknown').map(({ check }) => check);
    assert.deepEqual(unknown, servers, 'servers that do not run are not checked');
  });
}

test('without a usable configuration doctor checks the machine', () => {
  assert.deepEqual(
    examineMachine().map(({ check }) => check),
    machine,
  );
});
