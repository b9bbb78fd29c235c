import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

let service: HttpService;
before(async () => {
  service = await startHttpService();
});
after(() => service.close());

const model = 'videogen-2.0-fast';
const native = { model, input: { prompt: 'a boat' } };
/** Every API whose creates take an `Idempotency-Key`. */
const creates = {
  native: ['/api/v1/jobs/createTask', native],
  kie: ['/api/v1/jobs/createTask', native],
  openai: ['/v1/videos', { model, prompt: 'a boat' }],
  openrouter: ['/api/v1/videos', { model, prompt: 'a boat' }],
  ark: ['/api/v3/contents/generations/tasks', { model, content: [{ type: 'text', text: 'a boat' }] }],
} as const;

for (const [name, [path, body]] of Object.entries(creates)) {
  const dialect = name === 'kie' ? 'kie' : 'native';

  async function send(headers: Readonly<Record<string, string>>, text = JSON.stringify(body)) {
    const { accountId } = await service.newAccount(1_000);
    const created = await createKeyUnchecked(service.database.db, { accountId, name, scopes, dialect });
    const authorization = `Bearer ${created?.key ?? ''}`;
    return service.send('POST', path, {
      headers: { authorization, 'content-type': 'application/json', ...headers },
      body: text,
    });
  }

  test(`422 an empty Idempotency-Key protects nothing, so it is refused by name: ${name}`, async () => {
    const { status, bytes } = await send({ 'idempotency-key': '' });
    assert.equal(status, 422, bytes.toString());
    assert.match(bytes.toString(), /Idempotency-Key/);
    assert.ok((await send({})).status < 300);
  });

  test(`422 a top-level __proto__ is an unknown field: ${name}`, async () => {
    const { status, bytes } = await send({}, `{"__proto__":{"x":1},${JSON.stringify(body).slice(1)}`);
    assert.equal(status, 422, bytes.toString());
    assert.match(bytes.toString(), /__proto__/);
  });
}
