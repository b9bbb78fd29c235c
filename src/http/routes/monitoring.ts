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
  summary: 'Tells whether requests should be sent here',
  data: z.strictObject({}),
  failures: ['not_ready'],
  handler: async (_call, { readiness }) => {
    refuseUnlessReady(await readiness());
    return {};
  },
});

/** Throws `not_ready` if there is a reason. */
export function refuseUnlessReady(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new HttpError('not_ready', { data: { reasons } });
}

export const healthEndpoints = [healthz, readyz];
