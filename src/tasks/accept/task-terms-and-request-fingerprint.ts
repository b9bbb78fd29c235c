import { hash, randomInt } from 'node:crypto';
import type { Model } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { matchingAmountsInOrder } from '../../catalogue/prices/model-prices.ts';
import { shortfallTerms } from '../end/shortfall-terms-and-decision.ts';
import { defaultOf, type ModelInput, inputFieldNames, type TaskParam } from '../../catalogue/input/task-input.ts';

/** The terms that a task takes from its model when it is accepted. A request without a seed gets one, so that its video can be repeated. */
export function taskTerms(model: Model, param: TaskParam) {
  return {
    param: withSeed(model, param),
    requestSha256: requestFingerprint(param, model.input),
    listedPrices: matchingAmountsInOrder(model.prices, param.input),
    shortfall: shortfallTerms(model, param.input),
    deadlineMs: model.deadlineMs,
  };
}

function withSeed({ input: { fields } }: Model, param: TaskParam): TaskParam {
  if (fields.seed === undefined || param.input.seed !== undefined) return param;
  return { ...param, input: { ...param.input, seed: randomInt(fields.seed.max + 1) } };
}

/**
 * SHA-256 of a validated request before a seed is chosen for it: equal for two requests that mean the same, whether defaults were written
 * out or not. A field counts only when it differs from the model's default, so that a field that a model gains does not change it.
 */
export function requestFingerprint({ model, input, callBackUrl }: TaskParam, of: ModelInput): Buffer {
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
