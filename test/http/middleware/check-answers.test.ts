import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import type { Failure } from '../../../src/http/failures.ts';
import { HttpFailure, type HttpFailureDetails } from '../../../src/http/http-failure.ts';
import { checkAnswers } from '../../../src/http/middleware/check-answers.ts';
import type { Operation } from '../../../src/http/operation.ts';
import type { Context } from '../../../src/http/request-state.ts';

const operation: Operation = {
  operationId: 'sample',
  method: 'get',
  path: '/sample',
  tag: 'service',
  summary: 'A sample',
  key: 'none',
  data: z.strictObject({ figure: z.int() }),
  failures: ['no_such_task', 'too_many_unfinished'],
};

/** Runs the step around a handler that answers with `data`, or refuses. */
function answering(data: unknown, refusal?: HttpFailure, isOn = true): Promise<unknown> {
  // The step reads nothing else of Koa's context.
  const ctx = { status: 200, body: JSON.stringify({ code: 200, msg: 'success', data }), state: {} } as Context;
  const next = () => (refusal === undefined ? Promise.resolve() : Promise.reject(refusal));
  return Promise.resolve(checkAnswers(operation, isOn)(ctx as Parameters<ReturnType<typeof checkAnswers>>[0], next));
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
