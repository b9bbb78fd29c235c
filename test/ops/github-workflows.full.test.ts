import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';

const folder = '.github/workflows';
const workflowSchema = z.object({
  jobs: z.record(
    z.string(),
    z.object({
      uses: z.string().optional(),
      'timeout-minutes': z.int().optional(),
      strategy: z.object({ matrix: z.object({ os: z.array(z.string()), node: z.array(z.int()) }) }).optional(),
      steps: z.array(z.object({ run: z.string().optional() })).default([]),
    }),
  ),
});
const workflows = readdirSync(folder).map((name) => {
  const { jobs } = workflowSchema.parse(parse(readFileSync(join(folder, name), 'utf8')));
  return { name, jobs: Object.values(jobs) };
});
const packageSchema = z.object({
  scripts: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }),
});
const { scripts, engines } = packageSchema.parse(JSON.parse(readFileSync('package.json', 'utf8')));
const readme = readFileSync('README.md', 'utf8');

test('a workflow runs only scripts of this repository, and uploads what they built', () => {
  const commands = workflows.flatMap(({ jobs }) =>
    jobs.flatMap(({ steps }) => steps.flatMap(({ run = '' }) => commandsIn(run))),
  );
  assert.ok(commands.length > 5);
  assert.deepEqual(commands.filter(isForeign), []);
  const foreign = commandsIn(
    'npx cowsay && npm run unknown\nops/unknown.sh; npm install cowsay || curl https://a.example | sh',
  );
  assert.deepEqual([foreign.length, foreign.filter((command) => !isForeign(command))], [6, []]);
});

test('each change runs the commands of the README on both systems, with each version of Node.js that it names', () => {
  const [job] = workflows.find(({ name }) => name === 'change.yml')?.jobs ?? [];
  const [, block = ''] = /^## Try it$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  assert.deepEqual(
    job?.steps.flatMap(({ run }) => run ?? []),
    block.match(/^npm [^#\n]*[^#\n ]/gm),
  );
  const { os = [], node } = job?.strategy?.matrix ?? {};
  assert.deepEqual(
    os.map((one) => one.replace(/-.*/, '')),
    ['ubuntu', 'macos'],
  );
  const [, versions = ''] = /\(tested with ([^)]+)\)/.exec(readme) ?? [];
  assert.deepEqual(
    node,
    versions.match(/\d+(?=\.)/g)?.map((major) => Number(major)),
  );
});

test('contributors and the full tier use the oldest line of Node.js that the package supports', () => {
  const [oldest] = /\d+/.exec(engines.node) ?? [];
  assert.equal(readFileSync('.nvmrc', 'utf8').trim(), oldest);
});

test('every job has a time limit', () => {
  const jobs = workflows.flatMap((workflow) => workflow.jobs).filter(({ uses }) => uses === undefined);
  assert.ok(jobs.every((job) => job['timeout-minutes'] !== undefined));
});

describe('a checker of workflows', () => {
  const broken = join(mkdtempSync(join(tmpdir(), 'videogen-workflows-')), 'change.yml');
  after(() => rmSync(dirname(broken), { recursive: true, force: true }));
  const text = readFileSync(join(folder, 'change.yml'), 'utf8');
  const files = workflows.map(({ name }) => join(folder, name));
  const run = (program = '', ...args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' });

  const actionlint = process.env['VIDEOGEN_TEST_ACTIONLINT'];
  const noActionlint = actionlint === undefined && 'VIDEOGEN_TEST_ACTIONLINT names no actionlint here';
  test('actionlint finds nothing, and would find an unknown value', { skip: noActionlint }, () => {
    assert.equal(run(actionlint, ...files).stdout, '');
    writeFileSync(broken, text.replace('matrix.node', 'matrix.nodes'));
    assert.match(run(actionlint, broken).stdout, /property "nodes" is not defined/);
  });

  const zizmor = process.env['VIDEOGEN_TEST_ZIZMOR'];
  const noZizmor = zizmor === undefined && 'VIDEOGEN_TEST_ZIZMOR names no zizmor here';
  test('zizmor finds nothing, and would find an action that can change', { skip: noZizmor }, () => {
    const options = ['--offline', '--pedantic', '--quiet'];
    const { status, stdout } = run(zizmor, ...options, ...files);
    assert.equal(status, 0, stdout);
    writeFileSync(broken, text.replaceAll(/@[0-9a-f]{40}/g, '@v7'));
    assert.match(run(zizmor, ...options, broken).stdout, /error\[unpinned-uses\]/);
  });
});

function commandsIn(run: string): readonly string[] {
  return run
    .split(/\n|&&|\|\|?|;/)
    .map((command) => command.trim())
    .filter((command) => command !== '');
}

/** Reports whether a command needs more than this repository and what every machine of a contributor has. */
function isForeign(command: string): boolean {
  if (/^(?:git|echo|npm ci|npm test|gh release create)(?: |$)/.test(command)) return false;
  const [, script] = /^npm run ([\w:]+)/.exec(command) ?? [];
  if (script !== undefined) return scripts[script] === undefined;
  const [path = ''] = command.split(' ');
  return !/^(?:ops|\.ci)\//.test(path) || !isExecutable(path);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
