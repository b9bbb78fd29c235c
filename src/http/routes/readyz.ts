import type { Router } from '@koa/router';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { succeed } from '../envelope.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import type { Operation } from '../operation.ts';
import type { Extras, RequestState } from '../request-state.ts';

/** Those who ask give up after a few seconds themselves. */
const patienceMs = 3_000;

export const readyzOperation: Operation = {
  operationId: 'readyz',
  method: 'get',
  path: '/readyz',
  tag: 'service',
  summary: 'Whether requests should be sent here',
  key: 'none',
  data: z.strictObject({}),
  failures: ['not_ready', 'database_away'],
};

/** `GET /readyz`: whether requests should be sent here; 503 names the parts that are away. */
export function readyzRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.get(readyzOperation.path, checkAnswers(readyzOperation, deps.checkAnswers), async (ctx) => {
    if (deps.isLeaving?.() === true) throw new HttpFailure('not_ready', { data: { away: ['stopping'] } });
    const away = await withinPatience((deps.ready ?? (() => databaseOnly(deps)))());
    if (away.length > 0) throw new HttpFailure('not_ready', { data: { away } });
    succeed(ctx);
  });
}

const selectOne = { name: 'ready', text: 'select 1 as one' };

async function databaseOnly({ db }: HttpDeps): Promise<readonly string[]> {
  await db.run(selectOne);
  return [];
}

async function withinPatience(check: Promise<readonly string[]>): Promise<readonly string[]> {
  const timer = new AbortController();
  try {
    return await Promise.race([check, delay(patienceMs, ['no answer in time'], { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
