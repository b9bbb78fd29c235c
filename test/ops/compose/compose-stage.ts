import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';
import type { Api } from '../../support/service/call-api.ts';
import { commandsBeside, createShell, type Shell } from '../../support/documents/operations-commands.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openDocker } from './docker.ts';
import { follow } from './documented-steps.ts';

/** What the context of the image and the compose file do not need. */
const leftOut = ['.git', 'bench', 'data', 'demo', 'dist', 'node_modules', 'test'];

/** A checkout with its own `.env`, in which commands of docs/operations run as they are written there. */
export type Checkout = {
  readonly folder: string;
  /** Runs a line of a page; one that fails is a failure of the test. */
  run(line: string): Promise<string>;
  setVariable(name: string, value: string): Promise<void>;
};

/** An installation by the compose file of its first checkout, with the key of an account. */
export type ComposeStage = Checkout & {
  readonly baseUrl: string;
  readonly uiUrl: string;
  readonly api: Api;
  /** The present sources in another folder, without a `.env`, for the same installation. */
  nextCheckout(): Promise<Checkout>;
  /** Stops and removes all of its containers, networks, volumes and images. */
  close(): Promise<void>;
};

/** Installs the present sources, or those of a commit, as install.md and `.env.example` say. */
export async function startInstallation(commit?: string): Promise<ComposeStage> {
  const docker = await openDocker();
  const folder = await mkdtemp(join(tmpdir(), 'videogen-compose-'));
  // The name in the file may be in use on this machine, as its ports may.
  const project = `videogen-test-${process.pid}`;
  const [port, uiPort] = [await reserveFreePort(), await reserveFreePort()];
  const shell = await createShell(folder, { ...docker.env, COMPOSE_PROJECT_NAME: project });
  const first = openCheckout(shell, join(folder, 'first'), project);
  const close = async () => {
    try {
      await first.run('docker compose down --volumes --remove-orphans --rmi local --timeout 5');
      await shell.run(`docker image rm --force 'localhost/${project}'`);
    } finally {
      await docker.close();
      await rm(folder, { recursive: true });
    }
  };
  try {
    await copySources(first.folder, commit);
    await fillIn(first, { VIDEOGEN_PORT: port, TEMPORAL_UI_PORT: uiPort });
    const [, up = '', createAccount = '', createKey = ''] = commandsBeside('cp .env.example .env');
    await follow(first, 'up, with the build of the image', [up]);
    const accountId = /[\da-f]{8}-[\da-f-]{27}/.exec(await first.run(createAccount))?.[0] ?? assert.fail('no account');
    const key = /vg_\w+/.exec(await first.run(createKey.replace('ACCOUNT', accountId)))?.[0] ?? assert.fail('no key');
    const baseUrl = `http://127.0.0.1:${port}`;
    return {
      ...first,
      baseUrl,
      uiUrl: `http://127.0.0.1:${uiPort}`,
      api: { baseUrl, key },
      nextCheckout: async () => {
        const next = openCheckout(shell, join(folder, 'next'), project);
        await copySources(next.folder);
        return next;
      },
      close,
    };
  } catch (error) {
    // What closing reports then is a consequence.
    await close().catch(() => undefined);
    throw error;
  }
}

function openCheckout(shell: Shell, folder: string, project: string): Checkout {
  return {
    folder,
    run: (line) => shell.run(`cd '${folder}'; ${line.replaceAll('videogen_outside', `${project}_outside`)}`),
    setVariable: async (name, value) => {
      const file = join(folder, '.env');
      const lines = (await readFile(file, 'utf8')).split('\n');
      const others = lines.filter((line) => line !== '' && !line.startsWith(`${name}=`));
      await writeFile(file, [...others, `${name}=${value}`, ''].join('\n'));
    },
  };
}

async function copySources(folder: string, commit?: string): Promise<void> {
  await mkdir(folder);
  if (commit !== undefined) {
    const command = `git archive '${commit}' | tar --extract --no-same-permissions --directory '${folder}'`;
    await promisify(execFile)('sh', ['-c', command]);
    return;
  }
  const isNeeded = (path: string) =>
    !leftOut.includes(path) && basename(path) !== 'node_modules' && !/^\.env(?!\.example)/.test(path);
  await cp('.', folder, { recursive: true, filter: isNeeded });
}

/** Makes a `.env` as the example says. */
async function fillIn(checkout: Checkout, ports: Readonly<Record<string, number>>): Promise<void> {
  const [copy = ''] = commandsBeside('cp .env.example .env');
  await checkout.run(copy);
  const example = await readFile(join(checkout.folder, '.env.example'), 'utf8');
  const [loop = ''] = /^# {3}for name in [\s\S]*?done.*$/m.exec(example) ?? [];
  await checkout.run(loop.replaceAll(/^# +/gm, ''));
  for (const [name, port] of Object.entries(ports)) await checkout.setVariable(name, String(port));
}

/** The services that run until they are stopped, with the user who may end their program where it is not that of the image. */
export const services = { postgres: 'postgres', temporal: '', 'temporal-ui': '', api: '', worker: '' };

export async function healthy(checkout: Checkout): Promise<void> {
  await waitFor('all services to be healthy', async () => {
    const listed = (await checkout.run(`docker compose ps --format '{{.Service}} {{.Health}}'`)).split('\n');
    return Object.keys(services).every((name) => listed.includes(`${name} healthy`)) || delay(500, undefined);
  });
}
