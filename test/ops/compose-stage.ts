import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../src/embedded/persisted-port.ts';
import { type Api, createTask, recordInfo, resultUrlsIn } from '../support/api.ts';
import { commandsBeside, createShell } from '../support/page-commands.ts';
import { waitFor } from '../support/wait-for.ts';
import type { Docker } from './docker.ts';

/** What the context of the image and the compose file do not need. */
const leftOut = ['.git', 'bench', 'data', 'demo', 'dist', 'node_modules', 'test'];
/** A task of a busy machine waits for others. */
const taskLimitMs = 10 * 60_000;

/** A checkout with its own `.env`, in which commands of docs/operations run as they are written there. */
export type ComposeStage = {
  readonly folder: string;
  readonly baseUrl: string;
  readonly uiUrl: string;
  /** Runs a line of a page; one that fails is a failure of the test. */
  run(line: string): Promise<string>;
  setVariable(name: string, value: string): Promise<void>;
  /** This checkout in another folder, without a `.env`, for the same installation. */
  nextCheckout(): Promise<ComposeStage>;
  /** Stops and removes all of its containers, networks, volumes and images. */
  close(): Promise<void>;
};

/** A copy of this checkout, or of a commit, set up as install.md and `.env.example` say. */
export async function createComposeStage(docker: Docker, commit?: string): Promise<ComposeStage> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-compose-'));
  // The name in the file may be in use on this machine, as its ports may.
  const project = `videogen-test-${process.pid}`;
  const [port, uiPort] = [await freePort(), await freePort()];
  const stage = await openComposeStage({ docker, folder, project, port, uiPort });
  if (commit === undefined) await copyCheckout(folder);
  else
    await promisify(execFile)('sh', [
      '-c',
      `git archive ${commit} | tar --extract --no-same-permissions --directory '${folder}'`,
    ]);
  const [copy = ''] = commandsBeside('cp .env.example .env');
  await stage.run(copy);
  const example = await readFile(join(folder, '.env.example'), 'utf8');
  const [loop = ''] = /^# {3}for name in [\s\S]*?done.*$/m.exec(example) ?? [];
  await stage.run(loop.replaceAll(/^# +/gm, ''));
  await stage.setVariable('VIDEOGEN_PORT', String(port));
  await stage.setVariable('TEMPORAL_UI_PORT', String(uiPort));
  return stage;
}

async function copyCheckout(folder: string): Promise<void> {
  const isNeeded = (path: string) =>
    !leftOut.includes(path) && basename(path) !== 'node_modules' && !/^\.env(?!\.example)/.test(path);
  await cp('.', folder, { recursive: true, filter: isNeeded });
}

type Place = {
  readonly docker: Docker;
  readonly folder: string;
  readonly project: string;
  readonly port: number;
  readonly uiPort: number;
};

async function openComposeStage(place: Place): Promise<ComposeStage> {
  const { docker, folder, project, port, uiPort } = place;
  const programs = await mkdtemp(join(tmpdir(), 'videogen-shell-'));
  const shell = await createShell(programs, { ...docker.env, COMPOSE_PROJECT_NAME: project });
  const run = (line: string) =>
    shell.run(`cd '${folder}'; ${line.replaceAll('videogen_outside', `${project}_outside`)}`);
  return {
    folder,
    baseUrl: `http://127.0.0.1:${port}`,
    uiUrl: `http://127.0.0.1:${uiPort}`,
    run,
    setVariable: async (name, value) => {
      const file = join(folder, '.env');
      const lines = (await readFile(file, 'utf8')).split('\n');
      const others = lines.filter((line) => line !== '' && !line.startsWith(`${name}=`));
      await writeFile(file, [...others, `${name}=${value}`, ''].join('\n'));
    },
    nextCheckout: async () => {
      const next = await mkdtemp(join(tmpdir(), 'videogen-compose-'));
      await copyCheckout(next);
      return openComposeStage({ ...place, folder: next });
    },
    close: async () => {
      await run('docker compose down --volumes --remove-orphans --rmi local --timeout 5');
      await run(`docker image rm --force 'localhost/${project}'`);
      for (const one of [folder, programs]) await rm(one, { recursive: true, force: true });
    },
  };
}

/** The services that run until they are stopped, with the user who may end their program where it is not that of the image. */
export const services = { postgres: 'postgres', temporal: '', 'temporal-ui': '', api: '', worker: '' };

export async function healthy(stage: ComposeStage): Promise<void> {
  await waitFor('all services to be healthy', async () => {
    const listed = (await stage.run(`docker compose ps --format '{{.Service}} {{.Health}}'`)).split('\n');
    return Object.keys(services).every((name) => listed.includes(`${name} healthy`)) || delay(500, undefined);
  });
}

/** Creates an account and a key as install.md says. */
export async function newApi(stage: ComposeStage): Promise<Api> {
  const [, , create = '', createKey = ''] = commandsBeside('cp .env.example .env');
  const accountId = /[\da-f]{8}-[\da-f-]{27}/.exec(await stage.run(create))?.[0] ?? assert.fail('no account');
  const key = /vg_\w+/.exec(await stage.run(createKey.replace('ACCOUNT', accountId)))?.[0] ?? assert.fail('no key');
  return { baseUrl: stage.baseUrl, key };
}

/** Creates a task as a client does that repeats a request after an outage. */
export async function acceptedTask(api: Api, prompt = 'a lighthouse in a storm'): Promise<string> {
  const headers = { 'idempotency-key': randomUUID() };
  const request = { model: 'videogen-2.0-fast', input: { prompt, duration: 4 } };
  return waitFor('the acceptance of a task', async () => {
    const answer = await createTask(api, request, headers).catch(() => undefined);
    if (answer?.status === 200) return String(answer.body.data['taskId']);
    assert.ok(answer === undefined || answer.status >= 500, `${answer?.status} ${answer?.body.msg}`);
    return delay(500, undefined);
  });
}

/** The record of a task once its state is one of these. */
export function taskIn(api: Api, taskId: string, states: readonly string[]) {
  return waitFor(
    `task ${taskId} to be ${states.join(' or ')}`,
    async () => {
      const answer = await recordInfo(api, taskId).catch(() => undefined);
      const { data } = answer?.body ?? {};
      if (answer?.status === 200 && states.includes(String(data?.['state']))) return data;
      // An account's reads have a rate.
      return delay(300, undefined);
    },
    taskLimitMs,
  );
}

/** Waits for the success of a task, and downloads its video. */
export async function assertVideo(api: Api, taskId: string): Promise<void> {
  const record = await taskIn(api, taskId, ['success', 'fail']);
  assert.equal(record['state'], 'success', JSON.stringify(record));
  const video = await fetch(resultUrlsIn(record)[0] ?? assert.fail('no link'));
  assert.deepEqual([video.status, video.headers.get('content-type')], [200, 'video/mp4']);
  assert.ok((await video.arrayBuffer()).byteLength > 100_000);
}

/** Runs lines of a page, and prints how long they took. */
export async function follow(stage: ComposeStage, what: string, lines: readonly string[]): Promise<void> {
  const startedAt = performance.now();
  for (const line of lines) await stage.run(line);
  say(`${what}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
}

export function say(text: string): void {
  for (const line of text.trim().split('\n')) process.stdout.write(`# ${line}\n`);
}
