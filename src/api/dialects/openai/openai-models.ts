import { z } from 'zod';
import type { WithCatalogue } from '../../../catalogue/file/catalogue-schema.ts';
import { defineEndpoint } from '../../core/define-endpoint.ts';
import { existing } from '../../core/http-error.ts';
import { openAIErrors as shape } from './openai-error.ts';

/** The catalogue has no dates, so `created` is 0. `owned_by` is the name of the model in our own API. */
const modelSchema = z
  .strictObject({ id: z.string(), object: z.literal('model'), created: z.literal(0), owned_by: z.string() })
  .meta({ id: 'OpenAIModel' });

/** `isSold`: false while the live workers cannot generate the model. */
type OfferDeps = WithCatalogue & { readonly isSold: (model: string) => boolean };

const list = defineEndpoint({
  operationId: 'openaiListModels',
  shape,
  route: 'GET /v1/models',
  scope: 'any',
  summary: 'List the names of models',
  description: 'A model has one entry for each of its names. Omits models that no worker can generate at present.',
  data: z.strictObject({ object: z.literal('list'), data: z.array(modelSchema) }),
  handler: async (_call, deps: OfferDeps) => ({ object: 'list' as const, data: soldNames(deps) }),
});

const retrieve = defineEndpoint({
  operationId: 'openaiRetrieveModel',
  shape,
  route: 'GET /v1/models/{id}',
  scope: 'any',
  summary: 'Retrieve a model',
  data: modelSchema,
  failures: ['model_not_found'],
  handler: async ({ params }, deps: OfferDeps) => {
    const named = soldNames(deps).find(({ id }) => id === params['id']);
    return existing(named, 'model_not_found');
  },
});

function soldNames({ catalogue, isSold }: OfferDeps) {
  const sold = [...catalogue().models.values()].filter(({ model }) => isSold(model));
  return sold.flatMap(({ model, aliases = [] }) =>
    [...aliases, model].map((id) => ({ id, object: 'model' as const, created: 0 as const, owned_by: model })),
  );
}

export const openAIModelEndpoints = [list, retrieve];
