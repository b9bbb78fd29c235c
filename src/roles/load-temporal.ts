import { setTimeout as pause } from 'node:timers/promises';

/** Enough for the requests that came meanwhile: each needs the database, and so more than one turn of the event loop. */
const breathMs = 20;

// While Node loads code it does nothing else, and Temporal's is most of what we load. A package at a time, with a moment between
// two of them, an API that listens keeps answering; nothing blocks it for longer than a tenth of a second or so.
async function inPieces(...loads: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const load of loads) {
    await pause(breathMs);
    await load();
  }
}

async function loadClient(): Promise<void> {
  await inPieces(
    () => import('@temporalio/common'),
    () => import('@temporalio/client'),
  );
}

/** The code behind the API's calls to Temporal. */
export async function loadApiEngine() {
  await loadClient();
  return await import('../temporal/api-engine.ts');
}

/** The workers' code, for a process in which an API answers already. */
export async function loadWorkerRole() {
  await loadClient();
  await inPieces(
    () => import('@temporalio/worker'),
    () => import('./worker-rooms.ts'),
  );
  return await import('./worker-role.ts');
}
