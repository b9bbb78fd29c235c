import { constants, setPriority } from 'node:os';

/** Rendering may take every core; the process that answers requests and sends heartbeats must still come first. */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The child may be gone already, and some systems forbid it; rendering works all the same.
  }
}
