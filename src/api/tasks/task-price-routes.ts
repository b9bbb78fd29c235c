import { z } from 'zod';
import { dialectAdapter } from '../dialects/native-and-kie-dialects.ts';
import { quoteTask } from '../../credits/prices/task-price-sql-and-quote.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { checkRequest, type CheckRequestDeps } from '../../tasks/accept/order-task.ts';
import { type TranslateDeps, translateAndParseRequest } from '../../tasks/accept/parse-task-request.ts';
import { anyJsonObject, orderRefusalToHttpError } from './create-task-routes.ts';
import { taskTerms } from '../../tasks/accept/task-terms-and-request-fingerprint.ts';

const credits = z.int().nonnegative();

export const quoteTaskPrice = defineEndpoint({
  operationId: 'priceTask',
  route: 'POST /api/v1/jobs/price',
  scope: 'any',
  changesNothing: true,
  takesTaskRequest: true,
  summary: 'Get the price of a task',
  description:
    'Takes the body of `createTask` and returns what the task would cost now. Creates and charges nothing. A request that `createTask` ' +
    'would reject as invalid is rejected here with the same errors; balance and limits of the account are not checked.',
  body: anyJsonObject,
  data: z
    .strictObject({
      model: z.string(),
      priceName: z.string().meta({ description: 'The price of the model that applies to this input.' }),
      creditsPerSecond: credits,
      creditsPerVideo: credits,
      credits: z.int().positive().meta({ description: 'Seconds × `creditsPerSecond` + `creditsPerVideo`.' }),
    })
    .meta({ id: 'TaskPrice' }),
  failures: ['model_unavailable', 'model_not_allowed'],
  handler: async ({ caller, dialect, input }, deps: TranslateDeps & CheckRequestDeps) => {
    const request = translateAndParseRequest({ input, translate: dialectAdapter(dialect).taskRequest }, deps);
    const checked = await checkRequest({ caller, request }, deps);
    if (checked.kind !== 'valid') throw orderRefusalToHttpError(checked);
    const { param, model } = checked;
    const { listedPrices } = taskTerms(model, param);
    const { accountId } = caller;
    const durationSeconds = param.input.duration;
    const quote = await quoteTask(deps.db, { accountId, model: model.model, durationSeconds, listedPrices });
    if (quote === undefined) throw new Error(`no price of ${model.model} is in force`);
    return { model: model.model, ...quote };
  },
});
