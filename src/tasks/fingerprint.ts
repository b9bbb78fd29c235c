import { hash } from 'node:crypto';
import { defaultOf, type ModelInput, inputFieldNames, type TaskParam } from './task-input.ts';

/**
 * SHA-256 of a validated request before a seed is chosen for it: equal for two requests that mean the same, whether defaults were written
 * out or not. A field counts only when it differs from the model's default, so that a field that a model gains does not change it.
 */
export function fingerprint({ model, input, callBackUrl }: TaskParam, of: ModelInput): Buffer {
  const chosen = inputFieldNames
    .filter((name) => input[name] !== undefined && input[name] !== defaultOf(of, name))
    .map((name) => [name, sorted(input[name])] as const)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(sorted(defaultOf(of, name))));
  return hash('sha256', JSON.stringify([model, callBackUrl ?? null, chosen]), 'buffer');
}

/** Options mean the same in any order. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
