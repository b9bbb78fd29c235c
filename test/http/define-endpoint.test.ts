import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Authentication } from '../../src/http/authentication.ts';
import type { Context } from '../../src/http/context.ts';
import { defineEndpoint } from '../../src/http/define-endpoint.ts';
import { type ErrorCode, HttpError, type HttpErrorDetails } from '../../src/http/errors.ts';
import type { HttpDeps } from '../../src/http/http-deps.ts';

/** Serves an endpoint that answers with `data`, or refuses. */
async function answering(data: unknown, refusal?: HttpError, isOn = true): Promise<void> {
  const endpoint = defineEndpoint({
    operationId: 'sample',
    method: 'get',
    path: '/sample',
    tag: 'service',
    scope: 'none',
    summary: 'A sample',
    data: z.strictObject({ figure: z.int() }),
    failures: ['task_not_found', 'too_many_unfinished_tasks'],
    // The wrong shapes are what is tested.
    handler: () => (refusal === undefined ? Promise.resolve(data as { figure: number }) : Promise.reject(refusal)),
  });
  // An endpoint without key, query and body touches nothing else of these.
  const ctx = { state: {}, set: () => undefined, querystring: '' } as unknown as Context;
  await endpoint.serve(ctx, { checkAnswers: isOn } as unknown as HttpDeps, {} as Authentication);
}

function refusing(code: ErrorCode, details?: HttpErrorDetails, isOn = true): Promise<unknown> {
  return answering({}, new HttpError(code, details), isOn);
}

test('what is declared passes: the shape of success, and refusals with their data', async () => {
  await answering({ figure: 1 });
  await assert.rejects(refusing('task_not_found'), { code: 'task_not_found' });
  await assert.rejects(refusing('too_many_unfinished_tasks', { data: { limit: 7 } }), {
    code: 'too_many_unfinished_tasks',
  });
  await assert.rejects(refusing('malformed_request'), { code: 'malformed_request' });
});

for (const data of [{}, { figure: 1.5 }, { figure: 1, more: true }, undefined]) {
  test(`an answer of ${JSON.stringify(data)} is an undeclared shape`, async () => {
    await assert.rejects(answering(data), /another shape/);
    await answering(data, undefined, false);
  });
}

test('a refusal that the endpoint does not declare, or with other data, is a crash', async () => {
  await assert.rejects(refusing('insufficient_credits'), /does not declare insufficient_credits/);
  await assert.rejects(refusing('too_many_unfinished_tasks'), /another shape/);
  await assert.rejects(refusing('task_not_found', { data: { taskId: 'x' } }), /another shape/);
  await assert.rejects(refusing('insufficient_credits', {}, false), { code: 'insufficient_credits' });
});
