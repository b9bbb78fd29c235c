import { z } from 'zod';
import { dayMs } from '../../platform/timing/milliseconds-per-unit.ts';
import { currencySchema } from '../../catalogue/prices/upstream-cost.ts';
import type { Catalogue, WithCatalogueGetter } from '../../catalogue/file/catalogue-schema-and-types.ts';
import { unknownNameMessage } from '../../platform/text/did-you-mean.ts';
import {
  maxMarginMs,
  readCreditsOutsideTasks,
  readMargin,
  readPaidAndReturnedMoney,
} from '../../credits/reports/margin-and-paid-money.ts';
import { providerSwitchPositions, setProviderSwitchAs } from '../../tasks/jobs/provider-pools-and-switches.ts';
import { type ProviderStatus, readProviderStatuses } from '../../tasks/jobs/list-providers-with-pools.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { type ProviderTestReport, providerTestOutcomes } from '../../catalogue/providers/provider-test-outcome.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { HttpError, invalidRequest } from '../core/http-error.ts';
import { maxUnixMs, oneOf, reasonField, requiredOrInvalidMessage } from '../core/request-fields.ts';
import {
  bookedCreditsSchema,
  paidMoneySchema,
  marginSchema,
  presentBookedCredits,
  presentMargin,
} from '../credits/margin-report-view.ts';
import { providerSchema } from './provider-view.ts';
import type { RateLimiter } from '../core/limits/rate-limits.ts';
import { refusalHeaders } from '../core/limits/rate-headers.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { strictQuery, textParameter, wholeNumberParameter } from '../core/query-parameters.ts';

const list = defineEndpoint({
  operationId: 'adminListProviders',
  route: 'GET /api/admin/v1/providers',
  summary: 'List providers',
  data: z.strictObject({ providers: z.array(providerSchema) }),
  handler: async (_call, { db, catalogue }: WithDb & WithCatalogueGetter) => ({
    providers: await readProviderStatuses(db, catalogue()),
  }),
});

const providerError = 'must be the name of a provider';
export const providerNameField = z.string({ error: requiredOrInvalidMessage(providerError) });

/** Throws the refusal of a name that no provider has. */
export async function requireProviderStatus(db: Database, catalogue: Catalogue, name: string): Promise<ProviderStatus> {
  const statuses = await readProviderStatuses(db, catalogue);
  const found = statuses.find(({ provider }) => provider === name);
  if (found !== undefined) return found;
  const names = statuses.map(({ provider }) => provider);
  throw invalidRequest([{ path: 'provider', message: unknownNameMessage('provider', name, names) }]);
}

const set = defineEndpoint({
  operationId: 'adminSetProvider',
  route: 'POST /api/admin/v1/providers/set',
  summary: 'Enable, drain or disable a provider',
  description:
    '`draining` stops new jobs and follows running ones to their end. `off` stops all requests, also about running jobs. `enabled` also ' +
    'ends cooldowns.',
  body: z.strictObject({
    provider: providerNameField,
    state: oneOf(providerSwitchPositions),
    reason: reasonField,
  }),
  data: providerSchema,
  handler: async ({ actor, input }, { db, catalogue }: WithDb & WithCatalogueGetter) => {
    await requireProviderStatus(db, catalogue(), input.provider);
    await setProviderSwitchAs(db, actor, input);
    return await requireProviderStatus(db, catalogue(), input.provider);
  },
});

const testSchema = z
  .strictObject({
    outcome: z.enum(providerTestOutcomes).meta({
      description:
        '`ok`: it answered as its API does. `responded`: it answered something else. `not_tested`: no request was possible. `no_worker`: no ' +
        'worker ran the test in time.',
    }),
    status: z.int().nullable().meta({ description: 'The HTTP status of its response.' }),
    latencyMs: z.int().nullable(),
    detail: z.string().nullable(),
  })
  .meta({ id: 'ProviderTest' });

type TestDeps = WithDb &
  WithCatalogueGetter & {
    /** Tests a provider on a worker; bounded in time. */
    readonly testProvider: (provider: string) => Promise<ProviderTestReport>;
    readonly providerTests: RateLimiter;
  };

const test = defineEndpoint({
  operationId: 'adminTestProvider',
  route: 'POST /api/admin/v1/providers/test',
  summary: 'Test a provider',
  description:
    'A worker reads a job that does not exist, which is free at every provider, and shows whether it is reachable and accepts our key. Also ' +
    'a disabled provider receives this one request.',
  body: z.strictObject({ provider: providerNameField }),
  data: testSchema,
  failures: ['too_many_provider_tests'],
  handler: async ({ actor, input: { provider } }, { db, catalogue, testProvider, providerTests }: TestDeps) => {
    await requireProviderStatus(db, catalogue(), provider);
    const taken = providerTests.take(provider);
    if (!taken.isAllowed)
      throw new HttpError('too_many_provider_tests', {
        headers: refusalHeaders('provider-tests', providerTests.rate, taken),
      });
    const { outcome, status, latencyMs, detail } = await testProvider(provider);
    const answer = pickRowFieldsBySchema(testSchema, { outcome, status, latencyMs, detail });
    const details = { provider, outcome, status, latencyMs };
    return changeWithAudit(db, actor, async () => ({ answer, done: { action: 'providers.test', details } }));
  },
});

const margin = defineEndpoint({
  operationId: 'adminMargin',
  route: 'GET /api/admin/v1/margin',
  summary: 'Get revenue and cost by model, price and provider',
  description:
    `Covers tasks that ended from \`fromTime\` to before \`toTime\`, at most ${maxMarginMs / dayMs} days. Credits count for the provider of ` +
    'the last job, cost for the provider that caused it. Revenue is the value of the credits that tasks used, also of credits that were ' +
    'not paid for; `booked` shows where credits came from, and `paid` the money that customers paid for them.',
  query: strictQuery({
    fromTime: wholeNumberParameter(0, maxUnixMs),
    toTime: wholeNumberParameter(0, maxUnixMs),
    model: textParameter('must be the name of a model').max(100).optional(),
    provider: textParameter(providerError).max(100).optional(),
  }),
  data: z.strictObject({
    currency: currencySchema,
    creditMicros: z.int().meta({ description: 'The price of a credit, in millionths of the currency.' }),
    rows: z.array(marginSchema),
    booked: z.array(bookedCreditsSchema).meta({
      description:
        'Credits that accounts got in the period other than by refunds. `model` and `provider` do not apply.',
    }),
    paid: z.array(paidMoneySchema).meta({ description: 'Payments of top-ups in the period, by currency.' }),
  }),
  handler: async ({ query }, { db, catalogue }: WithDb & WithCatalogueGetter) => {
    const { fromTime: fromMs, toTime: toMs, model, provider } = query;
    if (toMs < fromMs || toMs - fromMs > maxMarginMs) {
      const message = `must be from fromTime to ${maxMarginMs / dayMs} days later`;
      throw invalidRequest([{ path: 'toTime', message }]);
    }
    const sold = catalogue();
    const { micros, currency: inCurrency } = sold.creditValue;
    const rows = await readMargin(db, { fromMs, toMs, currency: inCurrency, model, provider });
    const booked = await readCreditsOutsideTasks(db, { fromMs, toMs });
    return {
      currency: inCurrency,
      creditMicros: micros,
      rows: rows.map((row) => presentMargin(row, sold)),
      booked: booked.map((one) => presentBookedCredits(one, sold)),
      paid: await readPaidAndReturnedMoney(db, { fromMs, toMs }),
    };
  },
});

export const operatorProviderAndMarginEndpoints = [list, set, margin, test];
