import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { allowSlowBody, callWhenBodyIsLate } from '../../../../src/api/core/server/body-time-limit.ts';

function request(headers: Readonly<Record<string, string>>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers });
}

test('a body that is not complete in time is late, unless it may be slow or there is none', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late: string[] = [];
  const requests = {
    'of a known length': request({ 'content-length': '5' }),
    'in chunks': request({ 'transfer-encoding': 'chunked' }),
    'without a body': request({}),
    complete: Object.assign(request({ 'content-length': '5' }), { complete: true }),
    'of an upload': request({ 'content-length': '5' }),
  };
  for (const [name, one] of Object.entries(requests)) callWhenBodyIsLate(one, 1_000, () => late.push(name));
  t.mock.timers.tick(999);
  assert.deepEqual(late, []);
  allowSlowBody(requests['of an upload']);
  t.mock.timers.tick(1);
  assert.deepEqual(late, ['of a known length', 'in chunks']);
});
