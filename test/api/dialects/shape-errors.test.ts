import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../../src/api/core/error-catalogue.ts';
import { HttpError, invalidRequest } from '../../../src/api/core/http-error.ts';
import { arkErrorShape } from '../../../src/api/dialects/ark/ark-error.ts';
import { openAIErrorShape } from '../../../src/api/dialects/openai/openai-error.ts';
import { openRouterErrorShape } from '../../../src/api/dialects/openrouter/openrouter-error.ts';

const msg = 'the message';

for (const [code, status, openAI, ark] of [
  ['unauthorized', 401, 'authentication_error', 'Unauthorized'],
  ['insufficient_credits', 402, 'insufficient_quota', 'PaymentRequired'],
  ['scope_missing', 403, 'permission_error', 'Forbidden'],
  ['task_not_found', 404, 'invalid_request_error', 'NotFound'],
  ['rate_limited', 429, 'rate_limit_error', 'TooManyRequests'],
  ['internal', 500, 'server_error', 'InternalServerError'],
  ['database_unavailable', 503, 'server_error', 'ServiceUnavailable'],
] as const satisfies readonly (readonly [ErrorCode, number, string, string])[]) {
  test(`${status} ${code} has the type of each vendor beside our stable code`, () => {
    const error = new HttpError(code, { msg, data: { limit: 7 } });
    assert.deepEqual(openAIErrorShape.errorBody(error), { error: { message: msg, type: openAI, param: null, code } });
    assert.deepEqual(arkErrorShape.errorBody(error), { error: { code, message: msg, param: '', type: ark } });
    const metadata = { limit: 7, error_code: code };
    assert.deepEqual(openRouterErrorShape.errorBody(error), { error: { code: status, message: msg, metadata } });
  });
}

test('422 an invalid field is named as the parameter', () => {
  const error = invalidRequest([{ path: 'input.ratio', message: 'is wrong' }]);
  const paramOf = (body: object) => (body as { error: { param: unknown } }).error.param; // The form of both.
  assert.deepEqual(
    [openAIErrorShape, arkErrorShape].map(({ errorBody }) => paramOf(errorBody(error))),
    ['input.ratio', 'input.ratio'],
  );
});
