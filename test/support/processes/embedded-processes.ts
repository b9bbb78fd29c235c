import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, afterEach } from 'node:test';
import { killAll, processesOf } from './processes.ts';
import { endOf, endPrograms, startProgram } from './programs.ts';
import { waitFor } from '../wait-for.ts';

const folders: string[] = [];

/** Called at the top of a file. Hooks at the top of this module would be those of the first file of a process alone. */
export function endProcessesAfterTests(): void {
  afterEach(() => endPrograms());

  // At the end of the file and not of the test: hooks run in the order they were made, and servers must stop first. Those that a
  // test which failed has left behind are killed.
  after(async () => {
    for (const folder of folders) {
      await killAll({ folder });
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** A folder with a name that trips careless code; it does not exist yet, the one above it does. */
export async function awkwardFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vïdeo gen's-"));
  folders.push(folder);
  return join(folder, 'dätä');
}

export type Starter = {
  readonly report: Record<string, unknown>;
  readonly kill: () => Promise<void>;
  /** Kills also what ends its server with it, so that the server is left behind. */
  readonly abandon: () => Promise<void>;
  readonly child: ChildProcess;
};

/** Runs `embedded-starter` until it has written its line. `kill` is SIGKILL, and resolves when the process has ended. */
export async function runStarter(...args: string[]): Promise<Starter> {
  const child = startProgram('./embedded-starter.js', args, { env: process.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async () => {
    child.kill('SIGKILL');
    await endOf(child);
  };
  assert.ok(child.stdout);
  let line: string | undefined;
  createInterface({ input: child.stdout }).once('line', (first: string) => {
    line = first;
  });
  const report: unknown = JSON.parse(await waitFor('the first word of the starter', () => line));
  assert.ok(typeof report === 'object' && report !== null);
  const server = 'pid' in report ? Number(report.pid) : 0;
  const abandon = async () => {
    const watchers = (await processesOf({ group: server })).filter((one) => /^\d+ \S*sh .*videogen-bound/.test(one));
    assert.equal(watchers.length, 1, 'one process waits for the end of the starter');
    for (const watcher of watchers) process.kill(Number.parseInt(watcher, 10), 'SIGKILL');
    await kill();
  };
  return { report: Object.fromEntries(Object.entries(report)), kill, abandon, child };
}

/** Waits for a condition. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  await waitFor(what, async () => ((await condition()) ? true : undefined));
}
