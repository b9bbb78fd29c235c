import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { HttpError } from '../core/http-error.ts';

const healthz = defineEndpoint({
  operationId: 'healthz',
  route: 'GET /healthz',
  scope: 'none',
  summary: 'Check that the process is alive',
  data: z.strictObject({}),
  handler: async () => ({}),
});

/** Reasons for `/readyz` to fail; returns immediately. */
type ReadinessDeps = { readonly readiness: () => Promise<readonly string[]> };

const readyz = defineEndpoint({
  operationId: 'readyz',
  route: 'GET /readyz',
  scope: 'none',
  summary: 'Check that the process is ready for requests',
  data: z.strictObject({}),
  failures: ['not_ready'],
  handler: async (_call, { readiness }: ReadinessDeps) => {
    refuseIfAnyUnreadyReason(await readiness());
    return {};
  },
});

export function refuseIfAnyUnreadyReason(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new HttpError('not_ready', { data: { reasons } });
}

export const healthEndpoints = [healthz, readyz];
