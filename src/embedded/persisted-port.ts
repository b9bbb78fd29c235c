import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { SetupError } from '../platform/errors.ts';

/** Below the range of outgoing connections (from 32768 on Linux), so that none of them takes the port at a restart. */
const lowestPort = 15_000;
const highestPort = 32_000;
const maxTries = 50;

/** Returns the port stored in the file if it is free, else stores a new one. Addresses thus survive restarts. */
export async function persistedPort(file: string): Promise<number> {
  const stored = await readPort(file);
  if (stored !== undefined && (await isFree(stored))) return stored;
  const port = await freePort();
  await writeFile(file, `${port}\n`);
  return port;
}

/** Returns the port stored in the file, undefined if there is none. */
export async function readPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/** Finds a TCP port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowestPort, highestPort);
    if (await isFree(port)) return port;
  }
  throw new SetupError(`no free port found between ${lowestPort} and ${highestPort} in ${maxTries} tries`);
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
