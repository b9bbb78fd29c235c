import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Authentication } from '../../src/http/authentication.ts';
import { defineEndpoint } from '../../src/http/define-endpoint.ts';
import type { Failure } from '../../src/http/failures.ts';
import type { HttpDeps } from '../../src/http/http-deps.ts';
import { HttpFailure, type HttpFailureDetails } from '../../src/http/http-failure.ts';
import type { Context } from '../../src/http/request-state.ts';

/** Serves an endpoint that answers with `data`, or refuses. */
async function answering(data: unknown, refusal?: HttpFailure, isOn = true): Promise<void> {
  const endpoint = defineEndpoint({
    operationId: 'sample',
    method: 'get',
    path: '/sample',
    tag: 'service',
    scope: 'none',
    summary: 'A sample',
    data: z.strictObject({ figure: z.int() }),
    failures: ['no_such_task', 'too_many_unfinished'],
    // The wrong shapes are what is tested.
    handler: () => (refusal === undefined ? Promise.resolve(data as { figure: number }) : Promise.reject(refusal)),
  });
  // An endpoint without key, query and body touches nothing else of these.
  const ctx = { state: {}, set: () => undefined, querystring: '' } as unknown as Context;
  await endpoint.serve(ctx, { checkAnswers: isOn } as unknown as HttpDeps, {} as Authentication);
}

function refusing(failure: Failure, details?: HttpFailureDetails, isOn = true): Promise<unknown> {
  return answering({}, new HttpFailure(failure, details), isOn);
}

test('what is declared passes: the shape of success, and refusals with their data', async () => {
  await answering({ figure: 1 });
  await assert.rejects(refusing('no_such_task'), { failure: 'no_such_task' });
  await assert.rejects(refusing('too_many_unfinished', { data: { limit: 7 } }), { failure: 'too_many_unfinished' });
  await assert.rejects(refusing('malformed_request'), { failure: 'malformed_request' });
});

for (const data of [{}, { figure: 1.5 }, { figure: 1, more: true }, undefined]) {
  test(`an answer of ${JSON.stringify(data)} is an undeclared shape`, async () => {
    await assert.rejects(answering(data), /another shape/);
    await answering(data, undefined, false);
  });
}

test('a refusal that the endpoint does not declare, or with other data, is a crash', async () => {
  await assert.rejects(refusing('insufficient_credits'), /does not declare insufficient_credits/);
  await assert.rejects(refusing('too_many_unfinished'), /another shape/);
  await assert.rejects(refusing('no_such_task', { data: { taskId: 'x' } }), /another shape/);
  await assert.rejects(refusing('insufficient_credits', {}, false), { failure: 'insufficient_credits' });
});
