import { randomBytes, randomInt } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { SetupError } from '../domain/errors.ts';

/** Below the ranges from which systems number outgoing connections (32768 on Linux), so that none of those sits on it at a restart. */
const lowestPort = 15_000;
const highestPort = 32_000;
const maxTries = 50;

/**
 * A free TCP port of 127.0.0.1: the wanted one, else the one this file remembers, else a new one. What is chosen is written
 * to the file, so that addresses survive restarts. Throws when the wanted one is taken.
 */
export async function keptPort(file: string | undefined, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined && !(await isFree(wanted)))
    throw new SetupError(`port ${wanted} of 127.0.0.1 is taken by another program`);
  const port = wanted ?? (await rememberedPort(file)) ?? (await newPort());
  if (file !== undefined) await writeFileAtomically(file, `${port}\n`);
  return port;
}

async function rememberedPort(file: string | undefined): Promise<number | undefined> {
  const port = file === undefined ? undefined : await readPort(file);
  return port !== undefined && (await isFree(port)) ? port : undefined;
}

/** The port that a file remembers; undefined when it remembers none. */
export async function readPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

async function newPort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowestPort, highestPort);
    if (await isFree(port)) return port;
  }
  throw new SetupError(`no free port found between ${lowestPort} and ${highestPort} in ${maxTries} tries`);
}

/** Whether nothing listens on this port of 127.0.0.1. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** Writes a small file so that a reader, also one after a crash of the machine, finds the old text or the new one, never a part. */
export async function writeFileAtomically(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
