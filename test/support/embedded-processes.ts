import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const folders: string[] = [];

// At the end of the file and not of the test: hooks run in the order they were made, and servers must stop first.
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

/** A folder with a name that trips careless code; it does not exist yet, the one above it does. */
export async function awkwardFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "vïdeo gen's-"));
  folders.push(folder);
  return join(folder, 'dätä');
}

export type Starter = {
  readonly said: Record<string, unknown>;
  readonly kill: () => Promise<void>;
  readonly child: ChildProcess;
};

/** Runs `embedded-starter` until it has spoken; `kill` is SIGKILL, and resolves when the process is gone. */
export async function runStarter(...args: string[]): Promise<Starter> {
  const script = fileURLToPath(new URL('./embedded-starter.js', import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const said: unknown = JSON.parse(line);
    assert.ok(typeof said === 'object' && said !== null);
    return { said: Object.fromEntries(Object.entries(said)), kill, child };
  }
  throw new Error('the starter ended without a word');
}

/** Waits for a condition, 20 seconds at most. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`);
    await pause(25);
  }
}
