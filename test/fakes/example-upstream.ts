import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reserveFreePort } from '../../src/run/embedded/local-ports.ts';
import { listens } from '../support/processes/listens.ts';
import { startServerProcess } from '../support/servers/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import type { BookedJob, BookedState, RunningUpstream } from './upstream-books.ts';

// The example server of docs/providers/own.md as an upstream for tests. The command that it runs is a FAKE: it makes no video,
// but records that it ran, and waits until the test ends the job.

const program = fileURLToPath(new URL('../../../examples/provider.py', import.meta.url));
const videoPath = fileURLToPath(import.meta.resolve('#assets/instant-clip.mp4'));
/** It also ends when the test has removed its folder. */
const fakeCommand = `echo run >> runs; until [ -e end ] || [ ! -e request.json ]; do sleep 0.05; done
grep -q succeeded end && cp '${videoPath}' video.mp4`;

const hasPython = spawnSync('python3', ['-c', 'import http.server']).status === 0;
export const skipWithoutPython = hasPython ? false : 'python3, which runs the example server, is not here';

export type ExampleServer = {
  readonly address: string;
  readonly folder: string;
  restart(): Promise<void>;
  close(): Promise<void>;
};

/** Starts the example with a command, and with a folder of its own. */
export async function startExample(command: string, key: string): Promise<ExampleServer> {
  const folder = await mkdtemp(join(tmpdir(), 'videogen-example-'));
  const port = await reserveFreePort();
  const env = { ...process.env, KEY: key, JOBS: folder, PORT: String(port) };
  const server = await startServerProcess({
    name: 'the example server',
    start: () => spawn('python3', [program, command], { env, stdio: 'ignore' }),
    isReady: async () => (await listens(port)) === true,
  });
  return {
    address: `127.0.0.1:${port}`,
    folder,
    restart: server.restart,
    close: async () => {
      await server.kill();
      await rm(folder, { recursive: true });
    },
  };
}

export type ExampleUpstream = RunningUpstream & {
  /** The request of a job as the server wrote it. */
  requestOf(id: string): Promise<object>;
};

export async function startExampleUpstream({ key }: { readonly key: string }): Promise<ExampleUpstream> {
  const { folder, ...server } = await startExample(fakeCommand, key);
  const stateOf = async (id: string) => {
    // The example writes it so.
    const records = JSON.parse(await readFile(join(folder, 'jobs.json'), 'utf8')) as Record<
      string,
      { status: BookedState }
    >;
    return records[id]?.status ?? 'running';
  };
  const jobsIn = async (id: string): Promise<readonly BookedJob[]> => {
    // The server makes the folder before it writes the request, and has begun nothing until then.
    const request = await readFile(join(folder, id, 'request.json'), 'utf8').catch(() => '');
    if (request === '') return [];
    const { prompt } = (JSON.parse(request) as { input: { prompt: string } }).input; // what our provider sends
    const runs = await readFile(join(folder, id, 'runs'), 'utf8').catch(() => '');
    const job = { id, prompt, state: await stateOf(id) };
    // The command may not have come as far as writing down its run.
    return Array.from({ length: Math.max(1, runs.split('\n').length - 1) }, () => job);
  };
  const jobs = async () => {
    const entries = await readdir(folder, { withFileTypes: true });
    const begun = entries.filter((one) => one.isDirectory()).map(({ name }) => jobsIn(name));
    return (await Promise.all(begun)).flat();
  };
  return {
    ...server,
    requestOf: async (id) => JSON.parse(await readFile(join(folder, id, 'request.json'), 'utf8')) as object,
    videoPath,
    books: {
      jobs,
      jobsFor: async (prompt) => (await jobs()).filter((job) => job.prompt === prompt),
      end: async (id, state) => {
        await writeFile(join(folder, id, 'ending'), state);
        await rename(join(folder, id, 'ending'), join(folder, id, 'end'));
        await waitFor(`the end of ${id}`, async () => ((await stateOf(id)) === 'running' ? undefined : true));
      },
    },
  };
}
