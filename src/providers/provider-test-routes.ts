import { z } from 'zod';
import { testOutcomes } from '../tasks/ports.ts';
import { readProviderStatuses } from './provider-status.ts';
import { unknownName } from '../platform/did-you-mean.ts';
import { recordAction } from '../operators/operator-actions.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { HttpError, invalidRequest } from '../http/errors.ts';
import { required } from '../http/fields.ts';
import { refusalHeaders } from '../http/limits/rate-headers.ts';
import { view } from '../http/view.ts';

const testSchema = z
  .strictObject({
    outcome: z.enum(testOutcomes).meta({
      description:
        '`ok`: it answered as its API does. `responded`: it answered something else. `not_tested`: no request was possible. `no_worker`: no ' +
        'worker ran the test in time.',
    }),
    status: z.int().nullable().meta({ description: 'The HTTP status of its response.' }),
    latencyMs: z.int().nullable(),
    detail: z.string().nullable(),
  })
  .meta({ id: 'ProviderTest' });

const providerError = 'must be the name of a provider';

export const testProvider = defineEndpoint({
  operationId: 'adminTestProvider',
  route: 'POST /api/admin/v1/providers/test',
  summary: 'Test a provider',
  description:
    'A worker reads a job that does not exist, which is free at every provider, and shows whether it is reachable and accepts our key. Also ' +
    'a disabled provider receives this one request.',
  body: z.strictObject({ provider: z.string({ error: required(providerError) }) }),
  data: testSchema,
  failures: ['too_many_provider_tests'],
  handler: async ({ actor, input: { provider } }, { db, catalogue, testProvider: test, providerTests }) => {
    const names = (await readProviderStatuses(db, catalogue())).map((one) => one.provider);
    if (!names.includes(provider))
      throw invalidRequest([{ path: 'provider', message: unknownName('provider', provider, names) }]);
    const taken = providerTests.take(provider);
    if (!taken.isAllowed)
      throw new HttpError('too_many_provider_tests', {
        headers: refusalHeaders('provider-tests', providerTests.rate, taken),
      });
    const { outcome, status, latencyMs, detail } = await test(provider);
    const answer = view(testSchema, { outcome, status, latencyMs, detail });
    const details = { provider, outcome, status, latencyMs };
    return recordAction(db, actor, async () => ({ answer, done: { action: 'providers.test', details } }));
  },
});
