import { randomInt } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { SetupError } from '../domain/errors.ts';

/** Below the ranges from which systems number outgoing connections (32768 on Linux), so that none of those sits on it at a restart. */
const lowestPort = 15_000;
const highestPort = 32_000;
const maxTries = 50;

/** A free port, as below: the one that this file remembers, else a new one, which it remembers, so that addresses survive restarts. */
export async function persistedPort(file: string): Promise<number> {
  const remembered = await readPort(file);
  if (remembered !== undefined && (await isFree(remembered))) return remembered;
  const port = await freePort();
  await writeFile(file, `${port}\n`);
  return port;
}

/** The port that a file remembers; undefined when it remembers none. */
export async function readPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/** A TCP port of 127.0.0.1 on which nothing listens. */
export async function freePort(): Promise<number> {
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
