import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isObject } from '../../../src/platform/text/json.ts';
import type { SubmitOutcome } from '../../../src/providers/provider-contract.ts';
import { jobOf, jobRequest, signal, statusOf } from '../contract/job-request.ts';
import { answering } from '../loopback-client.ts';
import { arkProvider } from './ark-stage.ts';

type Expected = { readonly kind: SubmitOutcome['kind']; readonly [name: string]: unknown; readonly error?: string };

const error = (code: string, message = 'words') => ({ error: { code, message, param: '', type: 'BadRequest' } });

describe('a create that is answered', () => {
  const busy = { kind: 'not_accepted', reason: 'busy' } as const;
  const overloaded = { kind: 'not_accepted', reason: 'overloaded' } as const;
  const operator = { kind: 'not_accepted', reason: 'operator' } as const;
  const content = { kind: 'refused', error: 'content' } as const;
  const input = { kind: 'refused', error: 'input' } as const;
  const upstream = { kind: 'refused', error: 'upstream' } as const;
  const unknown = { kind: 'unknown' } as const;
  const cases: readonly (readonly [status: number, body: object, expected: Expected])[] = [
    [200, { id: 'cgt-1' }, { kind: 'accepted', id: 'cgt-1' }],
    [200, { task_id: 'v2-1' }, { kind: 'accepted', id: 'v2-1' }],
    [200, { taskId: 'v2-1' }, { kind: 'accepted', id: 'v2-1' }],
    [200, { code: 0, data: { task_id: 'v2-1' } }, { kind: 'accepted', id: 'v2-1' }],
    [200, {}, unknown],
    [200, error('InvalidParameter'), unknown],
    [429, error('ModelAccountRpmRateLimitExceeded'), busy],
    [429, error('ModelAccountTpmRateLimitExceeded'), busy],
    [429, error('AccountRateLimitExceeded'), busy],
    [429, error('RateLimitExceeded.EndpointRPMExceeded'), busy],
    [429, error('RequestBurstTooFast'), busy],
    [429, error('InflightBatchsizeExceeded'), busy],
    [429, error('QuotaExceeded', 'The request has exceeded the quota.'), busy],
    [429, error('QuotaExceeded', 'exhausted its free trial quota for the model'), operator],
    [429, error('QuotaExceeded', 'You have exceeded the 5-hour/weekly/monthly usage quota.'), operator],
    [429, error('SetLimitExceeded'), operator],
    [429, error('SomethingNew'), busy],
    [429, error('ServerOverloaded'), overloaded],
    [429, error('ModelLoadingError'), overloaded],
    [400, error('InvalidEndpoint.ClosedEndpoint'), overloaded],
    [404, error('InvalidEndpoint.NotFound'), operator],
    [404, error('InvalidEndpointOrModel.NotFound'), operator],
    [404, error('ModelNotOpen'), operator],
    [401, error('AuthenticationError'), operator],
    [401, error('InvalidAccountStatus'), operator],
    [403, error('AccessDenied'), operator],
    [403, error('OperationDenied.ServiceNotOpen'), operator],
    [403, error('OperationDenied.ServiceOverdue'), operator],
    [403, error('AccountOverdueError'), operator],
    [403, error('SomethingNew'), operator],
    [400, error('InputTextSensitiveContentDetected'), content],
    [400, error('InputImageSensitiveContentDetected.PrivacyInformation'), content],
    [400, error('SensitiveContentDetected'), content],
    [400, error('InputTextRiskDetection'), content],
    [400, error('InvalidParameter'), input],
    [400, error('InvalidParameter.TaskTypeConstraint'), input],
    [400, error('MissingParameter'), input],
    [413, error('InvalidParameter'), input],
    // Another Videogen has the codes of its own API.
    [422, error('content_rejected'), content],
    [422, error('image_unreachable'), input],
    [422, error('image_invalid'), input],
    [422, error('media_unreachable'), input],
    [422, error('media_invalid'), input],
    [400, error('SomethingNew'), upstream],
    [400, error('constructor'), upstream],
    [404, error('SomethingNew'), upstream],
    [400, { detail: 'the words of a proxy' }, unknown],
    [404, {}, unknown],
    [500, error('InternalServiceError'), unknown],
    [500, error('InputTextSensitiveContentDetected'), unknown],
    [503, error('ServerOverloaded'), unknown],
  ];
  for (const [status, body, expected] of cases) {
    test(`${status} ${JSON.stringify(body).slice(0, 80)} means ${JSON.stringify(expected)}`, async () => {
      const provider = arkProvider('http://ark.example', { client: answering(status, body) });
      const outcome = await provider.submit(jobRequest(), signal);
      assert.deepEqual(withoutAbout(outcome), wholeOf(status, body, expected));
    });
  }

  test('with a known code means the same with every status of a refusal', async () => {
    const refusals = new Set([400, 401, 403, 404, 413, 422, 429]);
    const known = cases.filter(
      ([status, body]) => refusals.has(status) && !/SomethingNew|constructor|detail|^\{\}$/.test(JSON.stringify(body)),
    );
    assert.ok(known.length > 30);
    for (const [, body, expected] of known) {
      for (const status of [400, 413, 429]) {
        const provider = arkProvider('http://ark.example', { client: answering(status, body) });
        const outcome = await provider.submit(jobRequest(), signal);
        assert.deepEqual(withoutAbout(outcome), wholeOf(status, body, expected));
      }
    }
  });
});

/** The outcome with the text of the answer, and with its code when it is a refusal. */
function wholeOf(status: number, body: object, expected: Expected) {
  if (expected.kind === 'accepted') return expected;
  const detail = `HTTP ${status}: ${JSON.stringify(body)}`;
  if (expected.kind !== 'refused') return { ...expected, detail };
  const code = 'error' in body && isObject(body.error) ? body.error['code'] : undefined;
  return { kind: expected.kind, error: { kind: expected.error, code, detail } };
}

function withoutAbout(outcome: SubmitOutcome): object {
  if (outcome.kind !== 'refused') return outcome;
  const { about: _about, ...stated } = outcome.error;
  return { ...outcome, error: stated };
}

test('a refusal for its content names the refused part', async () => {
  for (const [code, about] of [
    ['InputTextSensitiveContentDetected', 'prompt'],
    ['InputImageSensitiveContentDetected.PrivacyInformation', 'image'],
    ['InputVideoSensitiveContentDetected.PrivacyInformation', 'video'],
    ['InputAudioSensitiveContentDetected', 'audio'],
    ['OutputAudioSensitiveContentDetected', 'sound'],
    ['OutputVideoSensitiveContentDetected', 'output'],
    ['SensitiveContentDetected', undefined],
  ] as const) {
    const provider = arkProvider('http://ark.example', { client: answering(400, error(code)) });
    const outcome = await provider.submit(jobRequest(), signal);
    const detail = `HTTP 400: ${JSON.stringify(error(code))}`;
    const named = about === undefined ? {} : { about };
    assert.deepEqual(outcome, { kind: 'refused', error: { kind: 'content', ...named, code, detail } });
  }
});

describe('the record of a job', () => {
  const job = jobOf(jobRequest(), 'cgt-1');
  const failed = (kind: string, code: string, detail = 'words') => {
    const about = code.startsWith('OutputAudio')
      ? { about: 'sound' }
      : code.startsWith('Output')
        ? { about: 'output' }
        : {};
    return { state: 'failed', error: { kind, ...about, code, detail } };
  };
  const cases: readonly (readonly [status: number, record: object, expected: object])[] = [
    [200, { status: 'queued' }, { state: 'queued' }],
    [200, { status: 'running' }, { state: 'running' }],
    [200, { status: 'percolating' }, { state: 'running' }],
    [200, { status: 'succeeded', content: { video_url: 'u' } }, { state: 'succeeded', result: { url: 'u' } }],
    [200, { status: 'succeeded', content: null }, { state: 'succeeded' }],
    [
      200,
      { status: 'failed', ...error('OutputVideoSensitiveContentDetected.PolicyViolation') },
      failed('content', 'OutputVideoSensitiveContentDetected.PolicyViolation'),
    ],
    [
      200,
      { status: 'failed', ...error('OutputAudioSensitiveContentDetected') },
      failed('content', 'OutputAudioSensitiveContentDetected'),
    ],
    [200, { status: 'failed', ...error('InvalidParameter') }, failed('input', 'InvalidParameter')],
    [200, { status: 'failed', ...error('InternalServiceError') }, failed('upstream', 'InternalServiceError')],
    [200, { status: 'failed', ...error('AccountOverdueError') }, failed('upstream', 'AccountOverdueError')],
    [
      200,
      { status: 'failed', ...error('OutputFailed') },
      { state: 'failed', error: { kind: 'upstream', code: 'OutputFailed', detail: 'words' } },
    ],
    [200, { status: 'failed', error: null }, failed('upstream', 'failed', '')],
    [200, { status: 'expired', error: null }, failed('upstream', 'expired', '')],
    [200, { status: 'cancelled', error: null }, failed('upstream', 'cancelled', '')],
    [200, { status: 7 }, { state: 'unclear' }],
    [200, { id: 'another', status: 'succeeded' }, { state: 'unclear' }],
    [404, error('NotFound.', 'The specified task is not found.'), { state: 'missing' }],
    [404, error('NotFound'), { state: 'missing' }],
    [404, error('ModelNotOpen'), { state: 'unclear' }],
    [400, error('NotFound.'), { state: 'unclear' }],
    [404, { detail: 'Not Found' }, { state: 'unclear' }],
    [401, error('AuthenticationError'), { state: 'unclear' }],
    [500, error('InternalServiceError'), { state: 'unclear' }],
  ];
  for (const [status, record, expected] of cases) {
    test(`${status} ${JSON.stringify(record).slice(0, 80)} reads ${JSON.stringify(expected)}`, async () => {
      const client = answering(status, { id: 'cgt-1', ...record });
      const seen = await statusOf(arkProvider('http://ark.example', { client }), job);
      if (seen.state === 'unclear') assert.deepEqual({ state: seen.state }, expected);
      else assert.deepEqual(seen, expected);
    });
  }
});
