import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServerProcess } from '../../support/servers/server-process.ts';
import { python } from '../python.ts';
import type { RunningUpstream } from '../upstream-books.ts';
import { reserveFreePort } from '../../../src/run/embedded/local-ports.ts';

// The real cog server, with a FAKE model that makes no video. It is a package of Python's: where it is not installed (.ci/run
// installs it and names its Python) the tests say so and are skipped.

const isThere = spawnSync(python, ['-c', 'import cog']).status === 0;
export const skipWithoutCog = isThere ? false : 'cog is not installed';

const folderOfModel = fileURLToPath(new URL('../../../../test/fakes/cog/', import.meta.url));
export const cogVideo = fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4'));

export type CogServer = {
  readonly baseUrl: string;
  /** Prompt, frames, seed and the beginnings of image and audio of every run, in order. */
  runs(): Promise<readonly string[]>;
  /** Every input of every run, in order; the ones that were left out have the defaults of the model. */
  inputs(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends the predictions whose prompt contains "hold". */
  endHeld(): Promise<void>;
  health(): Promise<string>;
  /** Dies with all its processes, and starts again at the same address. */
  restart(): Promise<void>;
  close(): Promise<void>;
};

export async function startCogServer(): Promise<CogServer> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-cog-'));
  const port = await reserveFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const runs = join(folder, 'runs');
  const env = {
    ...process.env,
    // The server starts `python` for its worker.
    PATH: `${dirname(python)}${delimiter}${process.env['PATH'] ?? ''}`,
    PORT: String(port),
    COG_PREDICT_TYPE_STUB: 'predict.py:Predictor',
    RUNS: runs,
    VIDEO: cogVideo,
  };
  const args = ['-m', 'cog.server.http', '--host', '127.0.0.1'];
  const health = async () => {
    const answer = (await (await fetch(`${baseUrl}/health-check`)).json()) as { readonly status: string }; // its documented shape
    return answer.status;
  };
  const server = await startServerProcess({
    name: 'the cog server',
    start: () => spawn(python, args, { env, cwd: folderOfModel, stdio: 'ignore', detached: true }),
    isReady: async () => (await health().catch(() => '')) === 'READY',
    isGroup: true,
  });
  return {
    baseUrl,
    runs: () => linesOf(runs),
    // The model writes maps.
    inputs: async () =>
      (await linesOf(`${runs}.inputs`)).map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    endHeld: async () => await writeFile(`${runs}.end`, ''),
    health,
    restart: server.restart,
    close: async () => {
      await server.kill();
      await rm(folder, { recursive: true });
    },
  };
}

async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** The same server with books: every run of a model is a job, and the model alone ends it. */
export async function startCogUpstream(): Promise<RunningUpstream & Pick<CogServer, 'runs' | 'inputs'>> {
  const server = await startCogServer();
  const jobs = async () =>
    (await server.runs()).map((run, index) => {
      const [prompt = ''] = run.split('|');
      return { id: `run-${index}`, prompt, state: 'succeeded' as const };
    });
  return {
    address: new URL(server.baseUrl).host,
    videoPath: cogVideo,
    runs: () => server.runs(),
    inputs: () => server.inputs(),
    isIdle: async () => (await server.health()) === 'READY',
    restart: () => server.restart(),
    close: () => server.close(),
    books: {
      jobs,
      jobsFor: async (prompt) => (await jobs()).filter((job) => job.prompt === prompt),
      end: () => Promise.resolve(),
    },
  };
}
