import { z } from 'zod';
import { withinMs } from '../../domain/time-limit.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { HttpError } from '../errors.ts';

const healthz = defineEndpoint({
  operationId: 'healthz',
  route: 'GET /healthz',
  scope: 'none',
  // Says nothing about the parts that the process depends on.
  summary: 'Whether the process lives',
  data: z.strictObject({}),
  handler: async () => ({}),
});

const readyz = defineEndpoint({
  operationId: 'readyz',
  route: 'GET /readyz',
  scope: 'none',
  summary: 'Whether requests should be sent here',
  data: z.strictObject({}),
  failures: ['not_ready', 'database_unavailable', 'database_busy'],
  handler: async (_call, deps) => {
    if (deps.isLeaving?.() === true) throw new HttpError('not_ready', { data: { away: ['stopping'] } });
    // Probes give up after a few seconds themselves.
    const isInTime = await withinMs(
      3_000,
      deps.db.run({ name: 'ready', text: 'select 1 as one' }).then(() => true),
      () => false,
    );
    if (!isInTime) throw new HttpError('not_ready', { data: { away: ['no answer in time'] } });
    return {};
  },
});

export const healthEndpoints = [healthz, readyz];
