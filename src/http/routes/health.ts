import { z } from 'zod';
import { withinMs } from '../../domain/time-limit.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpError } from '../errors.ts';

const healthz = defineEndpoint({
  operationId: 'healthz',
  method: 'get',
  path: '/healthz',
  tag: 'service',
  scope: 'none',
  // Says nothing about the parts that the process depends on.
  summary: 'Whether the process lives',
  data: z.strictObject({}),
  handler: async () => ({}),
});

/** Probes give up after a few seconds themselves. */
const timeoutMs = 3_000;

const readyz = defineEndpoint({
  operationId: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: 'service',
  scope: 'none',
  summary: 'Whether requests should be sent here',
  data: z.strictObject({}),
  failures: ['not_ready', 'database_unavailable', 'database_busy'],
  handler: async (_call, deps) => {
    if (deps.isLeaving?.() === true) throw new HttpError('not_ready', { data: { away: ['stopping'] } });
    const check = (deps.ready ?? (() => databaseOnly(deps)))();
    const away = await withinMs(timeoutMs, check, () => ['no answer in time']);
    if (away.length > 0) throw new HttpError('not_ready', { data: { away } });
    return {};
  },
});

const selectOne = { name: 'ready', text: 'select 1 as one' };

async function databaseOnly({ db }: HttpDeps): Promise<readonly string[]> {
  await db.run(selectOne);
  return [];
}

export const healthEndpoints = [healthz, readyz];
