import pTimeout from 'p-timeout';
import { z } from 'zod';
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
    const isReady = deps.db.run({ name: 'ready', text: 'select 1 as one' }).then(() => true);
    // Probes give up after a few seconds themselves.
    const isInTime = await pTimeout(isReady, { milliseconds: 3_000, fallback: () => false });
    if (!isInTime) throw new HttpError('not_ready', { data: { away: ['no answer in time'] } });
    return {};
  },
});

export const healthEndpoints = [healthz, readyz];
