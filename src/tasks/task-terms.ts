import { randomInt } from 'node:crypto';
import type { Model } from '../models/model.ts';
import { listedPrices } from '../models/price-rows.ts';
import { shortfallTerms } from './shortfall.ts';
import type { NewTask } from './create-outcome.ts';
import { fingerprint } from './fingerprint.ts';
import type { TaskParam } from './task-input.ts';

export type TaskTerms = Pick<NewTask, 'param' | 'requestSha256' | 'listedPrices' | 'shortfall' | 'deadlineMs'>;

/** The terms that a task takes from its model when it is accepted. A request without a seed gets one, so that its video can be repeated. */
export function taskTerms(model: Model, param: TaskParam): TaskTerms {
  return {
    param: withSeed(model, param),
    requestSha256: fingerprint(param, model.input),
    listedPrices: listedPrices(model.prices, param.input),
    shortfall: shortfallTerms(model, param.input),
    deadlineMs: model.deadlineMs,
  };
}

function withSeed({ input: { fields } }: Model, param: TaskParam): TaskParam {
  if (fields.seed === undefined || param.input.seed !== undefined) return param;
  return { ...param, input: { ...param.input, seed: randomInt(fields.seed.max + 1) } };
}
