import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { Scope } from '../../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { createKeyUnchecked } from '../../../../src/accounts/keys/keys.ts';
import { readBalanceAndEntries } from '../../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { completeTask } from '../../../../src/tasks/end/end-task-statements.ts';
import type { Answer } from '../../../support/service/http-client.ts';
import { type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { madeUpMeasures } from '../../../support/tasks/tasks.ts';

export const ordinary: readonly Scope[] = ['tasks:write', 'tasks:read', 'credits:read'];

export const request = { model: 'bytedance/seedance-2-fast', input: { prompt: 'A lighthouse in the fog' } };

/** Starts a service for one test file, and returns the requests that clients of either dialect send. */
export function useKie() {
  let started: HttpService;
  before(async () => {
    started = await startHttpService();
  });
  after(async () => {
    await started.close();
    assert.ok(!started.log.some((line) => line['failure'] === 'internal'), 'request crashed');
  });

  /** Creates an account with a key of either dialect. */
  async function newAccount(credits = 10_000, scopes = ordinary) {
    const { accountId, key: native } = await started.newAccount(credits, scopes);
    const { db } = started.database;
    const created = await createKeyUnchecked(db, { accountId, name: 'their client', scopes, dialect: 'kie' });
    assert.ok(created);
    return { accountId, native, kie: created.key };
  }

  async function createdBy(key: string, body: unknown = request): Promise<string> {
    const answer = await started.create(key, body);
    assert.equal(answer.status, 200, answer.bytes.toString());
    return String(answer.json.data['taskId']);
  }

  const record = async (key: string, taskId: string) => (await started.recordInfo(key, taskId)).json.data;
  const balanceOf = async (accountId: string) =>
    (await readBalanceAndEntries(started.database.db, { accountId, before: undefined, limit: 1 })).balance;

  function post(key: string, path: string, body: unknown): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return started.send('POST', path, { headers, body: JSON.stringify(body) });
  }

  function get(key: string, path: string): Promise<Answer> {
    return started.send('GET', path, { headers: { authorization: `Bearer ${key}` } });
  }

  async function succeeded(taskId: string): Promise<void> {
    const [videoKey, posterKey] = [`results/${taskId}/video.mp4`, `results/${taskId}/poster.jpg`];
    await completeTask(started.database.db, taskId, { ...madeUpMeasures, videoKey, posterKey });
  }

  return { service: () => started, newAccount, createdBy, record, balanceOf, post, get, succeeded };
}

/** Returns the data of a successful response, which may be a bare value in this dialect. */
export function bare(answer: Answer): unknown {
  // An envelope, or the next line fails.
  const { code, msg, data } = JSON.parse(answer.bytes.toString()) as Record<string, unknown>;
  assert.deepEqual([answer.status, code, msg], [200, 200, 'success'], answer.bytes.toString());
  return data;
}
