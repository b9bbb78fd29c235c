import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../../src/run/config/config.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import type { DoctorRole } from '../../../src/run/doctor/doctor.ts';
import type { Finding } from '../../../src/run/doctor/checks-and-findings.ts';
import { connectTemporal } from '../../../src/temporal/connection/connect.ts';
import { createTestEnvironment, startTestWorker, type TestEnvironment } from '../../support/service/test-service.ts';
import { findingLine, findingsOf } from '../../support/doctor-findings.ts';
import { skipsWithoutS3, startS3Server } from '../../support/servers/s3-server.ts';
import { videogen } from '../../support/processes/run-videogen.ts';
import { waitFor } from '../../support/wait-for.ts';

// Each check breaks for real, over real servers; the rest of the installation is sound.

describe('doctor', () => {
  let environment: TestEnvironment;
  before(async () => {
    environment = await createTestEnvironment();
  });
  after(() => environment.close());

  const found = (extra: Environment = {}, role: DoctorRole = 'all') =>
    findingsOf({ ...environment.environment, ...extra }, role);
  const line = (check: string, extra: Environment = {}) => findingLine(check, { ...environment.environment, ...extra });

  test('reports no error of a sound installation, in lines and in JSON, and exits with 0', async (t) => {
    const worker = await startTestWorker();
    t.after(() => worker.close());
    const { code, stdout } = await videogen(worker.environment, 'doctor', '--json');
    const { state, findings } = JSON.parse(stdout) as { state: string; findings: Finding[] }; // what the command prints
    assert.deepEqual(
      findings.filter((finding) => finding.state === 'error'),
      [],
    );
    assert.deepEqual([code, state], [0, 'warning'], 'the tests are on plain http');
    const checks = findings.map(({ check }) => check);
    for (const check of ['database', 'schema', 'rights', 'clock', 'namespace', 'queue tasks', 'result store', 'ffmpeg'])
      assert.ok(checks.includes(check), check);
    const lines = (await videogen(worker.environment, 'doctor')).stdout;
    assert.match(lines, /^ok {7}queue generation: test-\w+-generation is served by 1 worker$/m);
    assert.match(lines, /\n0 errors, \d+ warnings\n$/);
  });

  test('names every invalid setting together, and exits with 1', async () => {
    const { code, stdout } = await videogen(
      { PATH: process.env['PATH'], PORT: 'x', LOG_LEVEL: 'loud' },
      'doctor',
      '--role',
      'api',
    );
    assert.equal(code, 1);
    for (const name of ['PORT', 'LOG_LEVEL', 'DATABASE_URL', 'TEMPORAL_ADDRESS', 'VIDEOGEN_SECRET', 'RESULT_STORE'])
      assert.match(stdout, new RegExp(`^ERROR {4}configuration: ${name}: must be`, 'm'));
  });

  test('reports queues without a worker, of those that the catalogue needs', async () => {
    const findings = await found();
    for (const name of ['tasks', 'generation', 'callbacks']) {
      const { state, message, remedy } = findings.get(`queue ${name}`) ?? assert.fail(name);
      assert.deepEqual([state, /no worker serves test-/.test(message)], ['error', true]);
      assert.match(remedy ?? '', new RegExp(`videogen worker --queues ${name}$`));
    }
    assert.ok(!findings.has('queue generation-remote'), 'every model is rendered here');
    assert.ok(!(await found({}, 'api')).has('queue tasks'), 'one process can do nothing about it');
  });

  test('reports a schedule that is missing or paused', async (t) => {
    assert.match(await line('schedules'), /^error: missing: .*→ Start a worker of the queue tasks/);
    const worker = await startTestWorker({ WORKER_QUEUES: 'tasks' });
    t.after(() => worker.close());
    const shown = () => findingLine('schedules', worker.environment);
    assert.match(await shown(), /^ok: /);
    const { client, close } = connectTemporal(worker.settings.temporal);
    t.after(close);
    await client.schedule.getHandle(`${worker.settings.taskQueue}-reconcile`).pause();
    assert.match(await shown(), /^warning: .* is paused.*--unpause/);
  });

  test('reports a Temporal that is not there', async () => {
    const address = `127.0.0.1:${await reserveFreePort()}`;
    assert.match(
      await line('temporal', { TEMPORAL_ADDRESS: address }),
      /^error: .*ECONNREFUSED.* → Check TEMPORAL_ADDRESS/,
    );
  });

  test('reports a namespace that is missing, one with a short retention, and search attributes that are not registered', async () => {
    const namespace = `doctor-${process.pid}`;
    const extra = { TEMPORAL_NAMESPACE: namespace };
    assert.match(
      await line('namespace', extra),
      /^error: there is no namespace doctor-.* → temporal operator namespace create/,
    );
    const { client, close } = connectTemporal(environment.settings.temporal);
    const retention = { workflowExecutionRetentionPeriod: { seconds: 3_600 } };
    // protobufjs takes a number for a 64-bit integer, which the SDK's types do not say.
    await client.workflowService.registerNamespace({ namespace, ...retention } as never);
    await close();
    // It takes some seconds until a new namespace is available in all of Temporal.
    const known = await waitFor('the namespace to be known', async () => {
      const shown = await line('search attributes', extra);
      return shown.startsWith('unknown') ? undefined : shown;
    });
    assert.match(known, /^error: not registered: .*TaskState.* → Run "videogen migrate"/);
    assert.match(await line('namespace', extra), /^warning: .*retained for 0\.0 days/);
  });

  test('ends although nothing answers: database, Temporal and bucket accept connections and send nothing', async (t) => {
    const address = await silentServer(t);
    const { code, stdout } = await videogen(
      {
        ...environment.environment,
        DATABASE_URL: `postgres://u:p@${address}/x`,
        TEMPORAL_ADDRESS: address,
        RESULT_STORE: 's3://bucket',
        AWS_ENDPOINT_URL_S3: `http://${address}`,
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      },
      'doctor',
    );
    assert.equal(code, 1);
    for (const check of ['database', 'temporal', 'result store'])
      assert.match(stdout, new RegExp(`^ERROR {4}${check}: `, 'm'));
    assert.match(stdout, /^ok {7}node: /m);
  });

  test('reports folders that this account may not write to', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-doctor-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'file'), '');
    assert.match(
      await line('result store', { RESULT_STORE: join(folder, 'file') }),
      /^error: .*there is a file of that name/,
    );
    assert.match(await line('work folder', { VIDEOGEN_DATA: join(folder, 'file') }), /^error: .*→ Set VIDEOGEN_DATA/);
    const closed = join(folder, 'closed');
    await mkdir(closed, { mode: 0o500 });
    await chmod(folder, 0o755);
    // Root may write everywhere, and steps down for this.
    const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const program = fileURLToPath(new URL('../../../src/run/cli/cli.js', import.meta.url));
    const env = {
      PATH: process.env['PATH'],
      VIDEOGEN_DATA: closed,
      TMPDIR: closed,
      RESULT_STORE: join(closed, 'results'),
    };
    const { status, stdout } = spawnSync(process.execPath, [program, 'doctor'], { env, encoding: 'utf8', ...account });
    assert.equal(status, 1);
    assert.match(stdout, /^ERROR {4}result store: The folder .*closed.*\(EACCES\)/m);
    assert.match(stdout, /^ERROR {4}work folder: .*\n.*Set VIDEOGEN_DATA/m);
    assert.match(stdout, /^ERROR {4}temporary folder: .*closed is not writable \(EACCES\)\n.*Set TMPDIR/m);
  });

  test('reports an ffmpeg that is missing, and one that cannot encode what we need', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'videogen-doctor-'));
    t.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'ffmpeg');
    assert.match(await line('ffmpeg', { FFMPEG_PATH: path }), /^error: none found: .* → Install ffmpeg/);
    await writeFile(path, '#!/bin/sh\necho "ffmpeg version 6.0-thin"\necho " A....D aac   AAC"\n');
    await chmod(path, 0o755);
    assert.match(
      await line('ffmpeg', { FFMPEG_PATH: path }),
      /^error: ffmpeg 6\.0-thin .* lacks the encoders libx264, libmp3lame, mjpeg/,
    );
    assert.ok(!(await found({ FFMPEG_PATH: path, WORKER_QUEUES: 'callbacks' }, 'worker')).has('ffmpeg'));
  });

  test(
    'puts, reads, links and deletes in a bucket, and reports an invalid secret and a missing bucket',
    { skip: skipsWithoutS3 },
    async (t) => {
      const server = await startS3Server();
      t.after(() => server.close());
      const given = process.env['AWS_SECRET_ACCESS_KEY'];
      t.after(() => restore('AWS_SECRET_ACCESS_KEY', given));
      // The SDK reads its credentials from the environment.
      Object.assign(process.env, server.environment);
      const bucket = { ...server.environment, RESULT_STORE: `s3://${server.bucket}/films` };
      assert.match(await line('result store', bucket), /^ok: s3:\/\/results\/films stores, returns and deletes files/);
      assert.match(
        await line('result store', { ...bucket, RESULT_STORE: 's3://no-such' }),
        /^error: .*The bucket does not exist/,
      );
      process.env['AWS_SECRET_ACCESS_KEY'] = 'a-secret-that-is-wrong';
      const wrong = await line('result store', bucket);
      assert.match(wrong, /^error: .*does not accept the credentials/);
      assert.ok(!wrong.includes('a-secret-that-is-wrong'));
    },
  );
});

function restore(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

/** Accepts connections and sends nothing, like a host whose packets are swallowed once a connection is open. */
async function silentServer(t: TestContext): Promise<string> {
  const server = createServer(() => {});
  const port = await reserveFreePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => server.close());
  return `127.0.0.1:${port}`;
}
