import type { HttpDeps } from '../../src/http/http-deps.ts';

/** An API that answers `/readyz` once `gate` resolves. */
export function heldReadiness(gate: () => Promise<unknown>): Pick<HttpDeps, 'readiness'> {
  return { readiness: () => gate().then(() => []) };
}
