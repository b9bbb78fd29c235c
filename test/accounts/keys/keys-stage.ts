import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import { type Scope, scopes } from '../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../src/accounts/keys/keys.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';

type ShownKey = {
  readonly keyId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly dialect: string;
  readonly models: readonly string[] | null;
  readonly mergeRepeats: boolean;
  readonly expireTime: number | null;
  readonly lastUseTime: number | null;
  readonly revokeTime: number | null;
  readonly uses: { readonly tasks: number; readonly credits: number };
};
type CreatedKey = ShownKey & { readonly key: string; readonly oldExpireTime: number };

/** Starts a service for one test file, and returns the requests about keys that its tests send. */
export function useKeys() {
  let started: HttpService;
  before(async () => {
    started = await startHttpService();
  });
  after(() => started.close());

  function post(key: string, path: string, body: unknown): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return started.send('POST', `/api/v1/keys${path}`, { headers, body: JSON.stringify(body) });
  }

  /** The service checks each successful response against the schema of its endpoint. */
  async function made(answer: Promise<Answer>): Promise<CreatedKey> {
    const { status, bytes, json } = await answer;
    assert.equal(status, 200, bytes.toString());
    return json.data as CreatedKey;
  }

  async function listed(key: string): Promise<readonly ShownKey[]> {
    const answer = await started.send('GET', '/api/v1/keys', { headers: { authorization: `Bearer ${key}` } });
    assert.equal(answer.status, 200, answer.bytes.toString());
    return answer.json.data['keys'] as readonly ShownKey[];
  }

  /** Returns 404 if the key may read tasks, 401 if it is invalid, and 403 if it lacks the scope. */
  async function readStatus(key: string): Promise<number> {
    return (await started.recordInfo(key, randomUUID())).status;
  }

  async function keyOf(accountId: string, granted: readonly Scope[], expiresAt?: number) {
    const created = await createKeyUnchecked(started.database.db, {
      accountId,
      name: 'given',
      scopes: granted,
      expiresAt,
    });
    assert.ok(created);
    return created;
  }

  const owner = () => started.newAccount(1000, scopes);

  return { service: () => started, post, made, listed, readStatus, keyOf, owner };
}
