import type { AppNeeds } from '../../../src/api/app.ts';

/** An API that answers `/readyz` once `gate` resolves. */
export function heldReadiness(gate: () => Promise<unknown>): Pick<AppNeeds, 'readiness'> {
  return { readiness: () => gate().then(() => []) };
}
