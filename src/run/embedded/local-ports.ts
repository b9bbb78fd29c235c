import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { errorCode, SetupError } from '../../platform/setup-errors-and-error-messages.ts';

/** Below the range of outgoing connections (from 32768 on Linux), so that none of them takes the port at a restart. */
const lowestPort = 15_000;
const highestPort = 32_000;
const maxTries = 50;

/** Returns the port stored in the file if it is free, else stores a new one. Addresses thus survive restarts. */
export async function readOrReservePort(file: string): Promise<number> {
  const stored = await readPort(file);
  if (stored !== undefined && (await isPortFree(stored))) {
    await tryReservePort(stored);
    return stored;
  }
  const port = await reserveFreePort();
  await writeFile(file, `${port}\n`);
  return port;
}

/** Returns the port stored in the file, undefined if there is none. */
export async function readPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

/**
 * Finds a TCP port of 127.0.0.1 on which nothing listens. Until this process ends, no other call chooses it, in any process, so that a
 * server may start on it later.
 */
export async function reserveFreePort(): Promise<number> {
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowestPort, highestPort);
    if ((await tryReservePort(port)) && (await isPortFree(port))) return port;
  }
  throw new SetupError(`no free port found between ${lowestPort} and ${highestPort} in ${maxTries} tries`);
}

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

const reserved = new Set<number>();

/**
 * Reserves a port; returns false if it is reserved already. A reservation binds the UDP port of the same number, which no server here uses,
 * because the system releases it whenever and however the process ends.
 */
export function tryReservePort(port: number): Promise<boolean> {
  if (reserved.has(port)) return Promise.resolve(false);
  reserved.add(port);
  return new Promise((resolve) => {
    const mark = createSocket('udp4').unref();
    mark.once('error', (error) => {
      mark.close();
      const isTaken = errorCode(error) === 'EADDRINUSE';
      if (isTaken) reserved.delete(port);
      // If UDP is unavailable, there are no reservations, and the port counts as free.
      resolve(!isTaken);
    });
    mark.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(true));
  });
}
