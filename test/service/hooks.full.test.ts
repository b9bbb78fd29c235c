import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { parse } from 'yaml';
import { auditLedger } from '../../src/stores/ledger-audit.ts';
import { listProviderJobs } from '../../src/stores/provider-jobs.ts';
import { findTask } from '../../src/stores/tasks.ts';
import { type ScriptedUpstream, startScriptedUpstream } from '../fakes/scripted-http.ts';
import { shippedFile } from '../providers/http/shipped-file.ts';
import { createTask } from '../support/api.ts';
import { endPrograms, startProgram } from '../support/programs.ts';
import { createTestAccount, createTestEnvironment, type TestEnvironment } from '../support/service.ts';
import { waitForEnd } from '../support/tasks.ts';
import { waitFor } from '../support/wait-for.ts';

// An upstream that announces changes of its jobs. API and worker are two processes, and the upstream is asked by itself only once a
// minute.

const key = 'the key of the upstream';

describe('an upstream that announces changes of its jobs', () => {
  let folder: string;
  let environment: TestEnvironment;
  let upstream: ScriptedUpstream;
  let apiKey: string;
  let hookUrl = '';
  let onHook: (url: string) => Promise<void>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'videogen-hooks-'));
    upstream = await startScriptedUpstream(shippedFile('replicate-seedance'), { onHook: (url) => onHook(url) });
    const path = new URL(import.meta.resolve('#assets/providers/replicate-seedance.yaml'));
    // A file is a map.
    const file = parse(await readFile(path, 'utf8')) as { readonly status: object };
    await writeFile(join(folder, 'key'), key);
    const pauses = Object.entries({ patient: 60, steady: 0.5 });
    for (const [name, minSeconds] of pauses) {
      await writeFile(join(folder, name), JSON.stringify({ ...file, status: { ...file.status, minSeconds } }));
    }
    const upstreamAt = { kind: 'http', baseUrl: `http://${upstream.address}`, key: { file: './key' }, webhook: true };
    const providers = Object.fromEntries(pauses.map(([name]) => [name, { ...upstreamAt, file: `./${name}` }]));
    const sold = { title: 'A model', prices: [{ creditsPerSecond: 7 }] };
    const models = pauses.map(([model]) => ({ ...sold, model, providers: [model] }));
    await writeFile(join(folder, 'catalogue.json'), JSON.stringify({ providers, models }));
    environment = await createTestEnvironment({ VIDEOGEN_MODELS: join(folder, 'catalogue.json') });
    ({ key: apiKey } = await createTestAccount(environment.database, 100_000));
    for (const part of ['api', 'worker'])
      startProgram(`../../src/main/${part}.js`, [], { env: environment.environment });
    await waitFor('the API', async () => {
      const answer = await fetch(`${environment.settings.publicUrl}/readyz`).catch(() => undefined);
      return answer?.ok === true ? true : undefined;
    });
  });
  beforeEach(() => {
    onHook = async (url) => void (hookUrl = url);
  });
  after(async () => {
    const violations = await auditLedger(environment.database.db);
    await endPrograms();
    await environment.close();
    await upstream.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(violations, []);
  });

  /** A task whose job runs, and about which the upstream was asked for the first time. */
  async function begun(prompt: string, model = 'patient') {
    const api = { baseUrl: environment.settings.publicUrl, key: apiKey };
    const asked = upstream.headers.length;
    const { status, body } = await createTask(api, { model, input: { prompt, duration: 4 } });
    assert.equal(status, 200, body.msg);
    const job = await waitFor('its job', async () => (await upstream.books.jobsFor(prompt))[0]);
    await waitFor('a question', () => (upstream.headers.length >= asked + 2 ? true : undefined));
    return { taskId: String(body.data['taskId']), job };
  }

  const announce = async (body = '{}', url = hookUrl) => (await fetch(url, { method: 'POST', body })).status;
  const questions = () => upstream.headers.length;
  const ended = (taskId: string) => waitForEnd(environment.database.db, taskId);

  test('brings the end of a job to light at once, though nobody would have asked for a minute', async () => {
    const silent = await begun('not announced');
    const silentUrl = hookUrl;
    const { taskId, job } = await begun('announced');
    for (const { id } of [silent.job, job]) await upstream.books.end(id, 'succeeded');
    assert.equal(await announce(), 200);
    assert.equal((await ended(taskId)).state, 'success');
    const [notAsked] = await listProviderJobs(environment.database.db, silent.taskId);
    assert.deepEqual([notAsked?.jobId, notAsked?.upstreamEndedAt], [silent.job.id, undefined]);
    assert.equal(await announce('{}', silentUrl), 200);
    assert.equal((await ended(silent.taskId)).state, 'success');
  });

  test('is not believed: neither a failure that it announces, nor a success', async () => {
    const { taskId, job } = await begun('a liar');
    const asked = questions();
    await announce(JSON.stringify({ id: job.id, status: 'succeeded', output: 'http://127.0.0.1:1/video.mp4' }));
    await waitFor('the question', () => (questions() > asked ? true : undefined));
    assert.equal((await findTask(environment.database.db, taskId))?.state, 'generating');
    await upstream.books.end(job.id, 'succeeded');
    await announce(JSON.stringify({ id: job.id, status: 'failed', error: 'sensitive' }));
    assert.equal((await ended(taskId)).state, 'success');
  });

  test('may announce before it has answered the create', async () => {
    onHook = async (url) => assert.equal(await announce('{}', (hookUrl = url)), 200);
    const { taskId, job } = await begun('too early');
    await upstream.books.end(job.id, 'succeeded');
    await announce();
    assert.equal((await ended(taskId)).state, 'success');
  });

  test('that storms is asked far less often than it announces', async () => {
    const { taskId, job } = await begun('a storm');
    const asked = questions();
    const storm = Array.from({ length: 300 }, () => announce());
    assert.deepEqual([...new Set(await Promise.all(storm))], [200]);
    assert.ok(questions() - asked < 100, `${questions() - asked} questions`);
    await upstream.books.end(job.id, 'succeeded');
    await announce();
    assert.equal((await ended(taskId)).state, 'success');
    const last = questions();
    for (const body of ['{}', 'again']) assert.equal(await announce(body), 200, 'a job that is over');
    assert.equal(questions(), last);
  });

  test('loses nothing when its announcements are lost', async () => {
    const { taskId, job } = await begun('lost', 'steady');
    await upstream.books.end(job.id, 'succeeded');
    assert.equal((await ended(taskId)).state, 'success');
  });
});
