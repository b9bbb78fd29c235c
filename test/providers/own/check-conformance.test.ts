import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test, type TestContext } from 'node:test';
import { checkConformance } from '../../../src/providers/own/check-conformance.ts';
import type { UpstreamClient } from '../../../src/providers/provider-contract.ts';
import {
  type Finding,
  type ConformanceRuleName,
  conformanceRules,
} from '../../../src/providers/own/conformance-rules-and-verdicts.ts';
import {
  type Break,
  type ProtocolServer,
  recordOf,
  refusal,
  startProtocolServer,
  versionOf,
} from '../../fakes/own-protocol-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { clientFor } from '../loopback-client.ts';

const key = 'the-key-of-the-server';

type Options = {
  /** An earlier one. */
  readonly server?: ProtocolServer;
  readonly broken?: Break;
  readonly hasKey?: boolean;
  readonly earlierJob?: string;
  readonly signal?: AbortSignal;
  readonly say?: (line: string) => void;
  readonly onCall?: (method: string, options: Parameters<UpstreamClient['call']>[2]) => void;
};

async function checked(
  t: TestContext,
  { server: earlier, broken, hasKey = true, earlierJob, signal, say, onCall }: Options = {},
) {
  const server = earlier ?? (await startProtocolServer({ key, ...(broken && { broken }) }));
  if (earlier === undefined) t.after(() => server.close());
  const told: Finding[] = [];
  const said: string[] = [];
  const baseUrl = `http://${server.address}`;
  const client = clientFor(baseUrl, key);
  const call: UpstreamClient['call'] = (method, path, options) => {
    onCall?.(method, options);
    return client.call(method, path, options);
  };
  const findings = await checkConformance({
    client: { ...client, call },
    strangers: hasKey ? { keyless: clientFor(baseUrl), invalid: clientFor(baseUrl, 'another-key') } : undefined,
    bodies: { first: '{"version": 2, "model": "a"}', other: '{"version": 2, "model": "b"}' },
    // The command line tests this with ffmpeg.
    inspect: async (path) => {
      if ((await readFile(path)).toString('latin1', 4, 8) !== 'ftyp') throw new Error('no video');
      return 'a video';
    },
    earlierJob,
    workFolder: await temporaryFolder(t),
    pollMs: 1,
    signal: signal ?? new AbortController().signal,
    onFinding: (finding) => told.push(finding),
    say: (line) => {
      said.push(line);
      say?.(line);
    },
  });
  assert.deepEqual(told, findings);
  const named = (outcome: Finding['outcome']) => rulesOf(findings, outcome);
  const skips = findings.flatMap(({ rule, outcome, came }) => (outcome === 'skipped' ? [[rule, came]] : []));
  return { findings, server, said, named, skips };
}

function rulesOf(findings: readonly Finding[], outcome: Finding['outcome']): readonly ConformanceRuleName[] {
  return findings.filter((one) => one.outcome === outcome).map(({ rule }) => rule);
}

test('a server that keeps the protocol passes every rule but the one that needs a restart', async (t) => {
  const { findings, named, server, said } = await checked(t);
  const [[id = ''] = []] = server.jobs;
  assert.deepEqual([named('fail'), named('skipped')], [[], ['restart']]);
  const came: Partial<Record<string, string>> = {
    'video-plays': 'a video',
    restart: `restart the server, then check it again with --job ${id}`,
  };
  assert.deepEqual(
    Object.fromEntries(findings.map((one) => [one.rule, [one.expected, one.came]])),
    Object.fromEntries(Object.entries(conformanceRules).map(([rule, expected]) => [rule, [expected, came[rule]]])),
  );
  assert.deepEqual(said, [`job ${id} was made`, `job ${id}: running 40 %`]);
  assert.deepEqual(
    [...server.jobs.values()].map(({ status }) => status),
    ['succeeded', 'canceled'],
  );
});

test('a server without a key is not checked for one, and jobs that end too soon for no rule about running ones', async (t) => {
  const { named, skips } = await checked(t, {
    hasKey: false,
    broken: ({ id }, tell, { jobs, job }) => {
      const told = tell();
      const made = jobs.get(id);
      if (made !== undefined && job === undefined) made.status = 'succeeded';
      return told;
    },
  });
  assert.deepEqual(named('fail'), []);
  const soon = (rules: readonly ConformanceRuleName[]) => rules.map((rule) => [rule, 'the job ended too soon']);
  assert.deepEqual(
    skips.filter(([rule]) => rule !== 'restart'),
    [
      ['key-missing', 'no key was given'],
      ['key-invalid', 'no key was given'],
      ...soon(['get-running', 'put-again', 'put-other-body', 'video-early']),
      ...soon(['cancel', 'cancel-again', 'put-canceled', 'video-canceled']),
    ],
  );
});

test('a job that ends between the answer to its cancellation and the next request breaks no rule', async (t) => {
  const { named, skips } = await checked(t, {
    broken: ({ id, method }, tell, { jobs, job }) =>
      method === 'DELETE' && job?.status === 'running' ? { status: 200, body: recordOf(id, jobs) } : tell(),
  });
  assert.deepEqual(named('fail'), []);
  const why = 'the job ended before the cancellation';
  assert.deepEqual(skips.slice(1), [
    ['put-canceled', why],
    ['video-canceled', why],
  ]);
});

for (const [missed, fails] of [
  [[2, 3, 5], []],
  [[2, 3, 4], ['succeeds']],
] as const) {
  test(`a job that is missing in its answers ${missed.join(', ')} has ${fails.length} findings`, async (t) => {
    let finds = 0;
    const { named, said, server } = await checked(t, {
      broken: ({ method, isVideo }, tell, { job }) => {
        if (method !== 'GET' || isVideo || job?.status !== 'running') return tell();
        finds += 1;
        return missed.some((one) => one === finds) ? refusal(404, 'not_found') : tell();
      },
    });
    assert.deepEqual(named('fail'), fails);
    const [[id = ''] = []] = server.jobs;
    const body = JSON.stringify(refusal(404, 'not_found').body);
    const [made, missing] = [`job ${id} was made`, `job ${id}: GET /jobs/${id}: HTTP 404: ${body}`];
    const lines = fails.length > 0 ? [made, missing] : [made, missing, `job ${id}: running 40 %`, missing];
    assert.deepEqual(said, lines);
  });
}

test('every job that was begun is stopped, and each that may still run is named', async (t) => {
  const { named, said, server } = await checked(t, {
    broken: (asked, tell) => {
      if (asked.method === 'DELETE') return refusal(500, 'internal');
      return asked.method === 'PUT' && versionOf(asked.body) !== 2 ? tell({ body: '{"version": 2}' }) : tell();
    },
  });
  const fails: readonly ConformanceRuleName[] = ['put-no-json', 'put-version', 'delete-ended', 'cancel'];
  assert.deepEqual(named('fail'), ['delete-unknown', ...fails]);
  const running = [...server.jobs].filter(([, { status }]) => status === 'running');
  assert.equal(running.length, 3);
  const body = JSON.stringify(refusal(500, 'internal').body);
  assert.deepEqual(
    said.filter((line) => line.includes('may still run')),
    running.map(([id]) => `job ${id} may still run: DELETE /jobs/${id}: HTTP 500: ${body}`),
  );
});

test('a page with 503 is no busy server', async (t) => {
  const { named, skips } = await checked(t, {
    broken: (asked, tell) =>
      asked.method === 'PUT' && asked.hasKey && versionOf(asked.body) === 2
        ? { status: 503, body: Buffer.from('<h1>a proxy</h1>') }
        : tell(),
  });
  assert.deepEqual(named('fail'), ['put', 'put-twice', 'errors']);
  assert.deepEqual(new Set(skips.map(([, why]) => why)), new Set(['no job was made', 'no answer of this kind']));
});

test("requests have the limits of Videogen's own, and may be answered with more than the protocol allows", async (t) => {
  const asked = new Set<string>();
  const onCall: Options['onCall'] = (method, { timeoutMs, maxBytes, headers }) =>
    asked.add(
      `${method} ${timeoutMs} ms ${maxBytes / 1024 / 1024} MiB ${headers?.['range'] === undefined ? '' : 'range'}`,
    );
  await checked(t, { onCall });
  assert.deepEqual([...asked].toSorted(), [
    'DELETE 15000 ms 1 MiB ',
    'GET 10000 ms 1 MiB ',
    'GET 60000 ms 64 MiB range',
    'PUT 60000 ms 1 MiB ',
  ]);
});

/** One way to break each rule, and no other one. */
const breaks: Readonly<Record<Exclude<ConformanceRuleName, 'restart'>, () => Break>> = {
  'key-missing': () => (asked, tell) => (asked.method === 'GET' ? tell({ hasKey: true }) : tell()),
  'key-invalid': () => (asked, tell) => (asked.method === 'PUT' ? tell({ hasKey: true }) : tell()),
  'get-unknown':
    () =>
    ({ method, isVideo, hasKey }, tell, { job }) =>
      method === 'GET' && !isVideo && hasKey && job === undefined ? refusal(404, 'no_such_job') : tell(),
  'video-unknown':
    () =>
    (asked, tell, { job }) =>
      asked.isVideo && job === undefined ? refusal(400, 'input_invalid') : tell(),
  'delete-unknown':
    () =>
    (asked, tell, { job }) =>
      asked.method === 'DELETE' && job === undefined ? refusal(500, 'internal') : tell(),
  'put-no-json': () => (asked, tell) =>
    asked.method === 'PUT' && versionOf(asked.body) === undefined ? tell({ body: '{"version": 2}' }) : tell(),
  'put-version': () => (asked, tell) =>
    asked.method === 'PUT' && versionOf(asked.body) === 1_000_000 ? tell({ body: '{"version": 2}' }) : tell(),
  put: () => {
    let puts = 0;
    // The first three are of a stranger, without JSON, and of another version.
    return (asked, tell) => (asked.method === 'PUT' && ++puts === 4 ? { status: 200, body: {} } : tell());
  },
  'get-running': () => {
    let finds = 0;
    return ({ method, isVideo }, tell, { job }) =>
      method === 'GET' && !isVideo && job !== undefined && ++finds === 1 ? refusal(404, 'not_found') : tell();
  },
  'put-again':
    () =>
    (asked, tell, { job }) =>
      asked.method === 'PUT' && job?.status === 'running' && job.gets > 0 && asked.body === job.body
        ? refusal(409, 'there_already')
        : tell(),
  'put-other-body':
    () =>
    (asked, tell, { job }) =>
      asked.method === 'PUT' && job !== undefined && asked.body !== job.body ? refusal(409, 'other_body') : tell(),
  'video-early':
    () =>
    (asked, tell, { job, video }) =>
      asked.isVideo && job?.status === 'running' ? { status: 200, body: video } : tell(),
  succeeds:
    () =>
    ({ id }, tell, { jobs }) => {
      const told = tell();
      const job = jobs.get(id);
      if (job?.status !== 'succeeded') return told;
      return { status: 200, body: { id, status: 'failed', error: { code: 'internal', message: 'out of memory' } } };
    },
  video:
    () =>
    (asked, tell, { job }) =>
      asked.isVideo && job?.status === 'succeeded' ? refusal(404, 'not_found') : tell(),
  'video-plays':
    () =>
    (asked, tell, { video }) => {
      const { status, body, ...told } = tell();
      if (!asked.isVideo || status >= 300) return { status, body, ...told };
      const text = Buffer.alloc(video.length, 'x');
      return { status, body: text.subarray(asked.first ?? 0), ...told };
    },
  'video-range':
    () =>
    (asked, tell, { video }) =>
      asked.first === undefined ? tell() : { ...tell(), body: video },
  'put-ended':
    () =>
    (asked, tell, { job }) => {
      if (asked.method === 'PUT' && job?.status === 'succeeded') Object.assign(job, { status: 'running', gets: 0 });
      return tell();
    },
  'delete-ended':
    () =>
    (asked, tell, { job, jobs }) => {
      const told = tell();
      if (asked.method === 'DELETE' && job?.status === 'succeeded') jobs.delete(asked.id);
      return told;
    },
  'video-stays': () => {
    let downloads = 0;
    return (asked, tell, { job, video }) => {
      const isWhole = asked.isVideo && asked.first === undefined && job?.status === 'succeeded';
      return isWhole && ++downloads > 1 ? { status: 200, body: Buffer.concat([video, video]) } : tell();
    };
  },
  'put-twice':
    () =>
    (asked, tell, { job }) => ({ ...tell(), ...(job?.gets === 0 && asked.method === 'PUT' && { status: 201 }) }),
  cancel:
    () =>
    (asked, tell, { job, jobs }) => {
      const told = tell();
      if (asked.method !== 'DELETE' || job?.status !== 'canceled') return told;
      const body = recordOf(asked.id, jobs);
      job.status = 'running';
      return { status: 200, body };
    },
  'cancel-again':
    () =>
    (asked, tell, { job }) =>
      asked.method === 'DELETE' && job?.status === 'canceled' ? refusal(404, 'not_found') : tell(),
  'put-canceled':
    () =>
    (asked, tell, { job }) => {
      if (asked.method === 'PUT' && job?.status === 'canceled') job.status = 'running';
      return tell();
    },
  'video-canceled':
    () =>
    (asked, tell, { job, video }) =>
      asked.isVideo && job?.status === 'canceled' ? { status: 200, body: video } : tell(),
  'record-id': () => (asked, tell) => ofRecords(tell(), asked.isVideo, { id: 'another' }),
  'record-status':
    () =>
    (asked, tell, { jobs }) => {
      const told = tell();
      return jobs.get(asked.id)?.status === 'running' ? ofRecords(told, asked.isVideo, { status: 'rendering' }) : told;
    },
  'record-fields': () => (asked, tell) => ofRecords(tell(), asked.isVideo, { progress: 140 }),
  errors: () => (_asked, tell) => {
    const told = tell();
    return told.status >= 400 ? { ...told, body: Buffer.from('<html>no</html>') } : told;
  },
  length: () => (asked, tell) => ({ ...tell(), isEndless: !asked.isVideo }),
  size: () => (asked, tell) => ofRecords(tell(), asked.isVideo, { log: 'x'.repeat(64 * 1024) }),
};

function ofRecords(told: ReturnType<Parameters<Break>[1]>, isVideo: boolean, more: object) {
  return isVideo || told.status >= 400 ? told : { ...told, body: { ...told.body, ...more } };
}

for (const [rule, broken] of Object.entries(breaks)) {
  test(`a server that breaks the rule ${rule} fails there and nowhere else`, async (t) => {
    const { named, findings, server } = await checked(t, { broken: broken() });
    assert.deepEqual(named('fail'), [rule], JSON.stringify(findings.filter(({ outcome }) => outcome === 'fail')));
    const running = [...server.jobs.values()].filter(({ status, deletes }) => status === 'running' && deletes === 0);
    assert.deepEqual(running, [], 'jobs that were begun are stopped');
  });
}

test('a busy server gets the request again, and one that cannot stop jobs keeps the protocol', async (t) => {
  // The first PUT of the first job is refused, and so are the first two of the second one.
  let [refusals, firstIsOver] = [3, false];
  const { named } = await checked(t, {
    broken: (asked, tell, { job }) => {
      if (asked.method === 'DELETE' && job !== undefined) return refusal(405, 'not_allowed');
      const isNew = asked.method === 'PUT' && asked.hasKey && job === undefined && versionOf(asked.body) === 2;
      if (!isNew || refusals === 0) return tell();
      if (refusals === 2 && !firstIsOver) {
        firstIsOver = true;
        return tell();
      }
      refusals -= 1;
      return { ...refusal(refusals === 0 ? 503 : 429, 'busy'), headers: { 'retry-after': '0' } };
    },
  });
  assert.deepEqual(named('fail'), []);
  assert.deepEqual(named('skipped'), ['restart', 'cancel', 'cancel-again', 'put-canceled', 'video-canceled']);
});

test('a job that does not end in time is reported and stopped', async (t) => {
  const time = new AbortController();
  const { named, findings, server } = await checked(t, {
    signal: time.signal,
    say: (line) => line.includes('running') && time.abort(),
    broken: (asked, tell, { job }) => {
      if (job !== undefined && asked.method === 'GET') job.gets = 0;
      return tell();
    },
  });
  assert.deepEqual(named('fail'), ['succeeds']);
  assert.match(
    findings.find(({ rule }) => rule === 'succeeds')?.came ?? '',
    /^the time was over; .*"status":"running"/,
  );
  assert.deepEqual(
    [...server.jobs.values()].map(({ status }) => status),
    ['canceled'],
  );
});

test('a server that has lost a job in a restart fails that rule, and gets no other request', async (t) => {
  const { findings, named } = await checked(t, { earlierJob: '019abc12-3456-7def-8901-234567890abc' });
  assert.deepEqual(named('fail'), ['restart']);
  assert.match(findings[0]?.came ?? '', /not_found/);
});

test('after a restart, a job is checked for what it was: its video, its end, or that it has none', async (t) => {
  const { server } = await checked(t);
  const [[succeeded = ''] = [], [canceled = '', job] = []] = server.jobs;
  assert.ok(job);
  const outcomes = async (earlierJob: string) => {
    const { findings } = await checked(t, { server, earlierJob });
    return Object.fromEntries(findings.map(({ rule, outcome }) => [rule, outcome]));
  };
  const records = {
    'record-id': 'pass',
    'record-status': 'pass',
    'record-fields': 'pass',
    length: 'pass',
    size: 'pass',
  };
  const ended = { restart: 'pass', 'put-ended': 'pass', 'delete-ended': 'pass', errors: 'skipped', ...records };
  const video = (outcome: string) =>
    Object.fromEntries(['video', 'video-plays', 'video-range', 'video-stays'].map((rule) => [rule, outcome]));
  assert.deepEqual(await outcomes(succeeded), { ...ended, ...video('pass') });
  assert.deepEqual(await outcomes(canceled), { ...ended, ...video('skipped') });
  Object.assign(job, { status: 'running', gets: 0 });
  assert.deepEqual(await outcomes(canceled), { restart: 'fail', errors: 'skipped', ...records });
});

test('an unreachable server breaks every rule that needs a response', async (t) => {
  const gone: Break = () => {
    throw new Error('the connection is destroyed');
  };
  const { findings, named } = await checked(t, { broken: gone });
  assert.ok(named('fail').includes('put'));
  assert.deepEqual(named('pass'), []);
  assert.match(findings[0]?.came ?? '', /no answer/);
});
