import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import sharp from 'sharp';
import { type ModerationHook, startModerationHook } from '../../fakes/moderation-hook.ts';
import { call, createTask } from '../../support/service/call-api.ts';
import { createTestAccount, startTestService, type TestService } from '../../support/service/test-service.ts';

// The settings of an installation, in its real API.

let hook: ModerationHook;
let service: TestService;
before(async () => {
  hook = await startModerationHook();
  service = await startTestService({ MODERATION_URL: hook.openai, MODERATION_KEY: 'sk-installation' });
});
after(async () => {
  await service.close();
  await hook.close();
});

test('an installation refuses content by its hook, which can read uploaded images, and counts the checks', async () => {
  const { key } = await createTestAccount(service.database);
  const api = { baseUrl: service.baseUrl, key };
  const body = new Uint8Array(
    await sharp({ create: { width: 640, height: 360, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer(),
  );
  const headers = { 'content-type': 'image/jpeg' };
  const upload = await call(api, '/api/v1/uploads', { method: 'POST', headers, body });
  const input = { prompt: 'A harbor of blood', imageUrls: [upload.body.data['url']] };
  const answer = await createTask(api, { model: 'videogen-2.0-fast', input });
  assert.deepEqual([answer.status, answer.body.data], [422, { category: 'violence' }]);
  const [received] = hook.received;
  assert.equal(received?.headers.authorization, 'Bearer sk-installation');
  const link = /"url":"([^"]+)"/.exec(JSON.stringify(received?.body))?.[1] ?? assert.fail();
  assert.match(link, /\/media\/uploads\/[^?]+\?expires=\d+&signature=/);
  const image = await fetch(link);
  assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/jpeg']);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /^videogen_moderation_checks_total\{outcome="refused"\} 1$/m);
  assert.match(metrics, /^videogen_moderation_check_duration_seconds_count 1$/m);
});
