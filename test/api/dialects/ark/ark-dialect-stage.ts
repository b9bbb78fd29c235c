import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { scopes as everyScope, type Scope } from '../../../../src/accounts/keys/scopes-dialects-and-caller.ts';
import { auditLedger } from '../../../../src/credits/ledger/ledger-audit.ts';
import { findAccount } from '../../../../src/accounts/accounts.ts';
import type { Model } from '../../../../src/catalogue/models/model-type-and-name-lookup.ts';
import { type ModelInput, standardModelInput } from '../../../../src/catalogue/input/task-input.ts';
import { completeTask } from '../../../../src/tasks/end/end-task-statements.ts';
import { catalogueOf, type HttpService, startHttpService } from '../../../support/service/http-service.ts';
import { madeUpMeasures, standardPrice } from '../../../support/tasks/tasks.ts';

export const tasksPath = '/api/v3/contents/generations/tasks';

const input: ModelInput = {
  fields: {
    ...standardModelInput.fields,
    resolution: { values: ['720p', '2160p'] },
    firstFrameUrl: {},
    lastFrameUrl: { requires: ['firstFrameUrl'] },
    videoUrls: { min: 0, max: 3, maxSeconds: 15, maxMegabytes: 50, maxPixels: 8_294_400, requires: undefined },
    audioUrls: { min: 0, max: 3, maxSeconds: 15, maxMegabytes: 15, requires: undefined },
    seed: { max: 2_147_483_647, requires: undefined },
    options: { cameraFixed: { type: 'boolean' }, returnLastFrame: { type: 'boolean' } },
  },
  exclusive: [['imageUrls', 'firstFrameUrl']],
};

const withoutPrompt: ModelInput = {
  ...input,
  fields: { ...input.fields, prompt: { maxCharacters: 5000, required: false } },
};

const terms = {
  prices: standardPrice({ creditsPerSecond: 33, fromMs: 0 }),
  providers: ['preview'],
  deadlineMs: 60_000,
};
const models: readonly Model[] = [
  { model: 'seedance', title: 'All fields', aliases: ['doubao-seedance-2-0-260128'], input, ...terms },
  { model: 'plain', title: 'Few fields', input: standardModelInput, ...terms },
  { model: 'wordless', title: 'No prompt', input: withoutPrompt, ...terms },
  { model: 'frames', title: 'Last frames', input: standardModelInput, lastFrame: true, ...terms },
];

export type Json = Readonly<Record<string, unknown>>;
type ArkAnswer = { readonly status: number; readonly body: Json; readonly headers: Readonly<Record<string, unknown>> };

export const text = (words: string) => ({ type: 'text', text: words });
export const image = (url: string, role?: string) => ({ type: 'image_url', image_url: { url }, ...(role && { role }) });

/** Starts a service for one test file, and returns the requests of a client of Ark. */
export function useArk() {
  let started: HttpService;
  before(async () => {
    const catalogue = catalogueOf(models);
    started = await startHttpService({ catalogue: () => catalogue });
  });
  after(async () => {
    const violations = await auditLedger(started.database.db);
    await started.close();
    assert.deepEqual(violations, []);
  });

  async function call(key: string, method: string, path: string, body?: object, headers = {}): Promise<ArkAnswer> {
    const answer = await started.send(method, path, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.bytes.toString()) as Json };
  }

  async function client(scopes: readonly Scope[] = everyScope) {
    const { accountId, key } = await started.newAccount(10_000, scopes);
    const create = (body: object, headers = {}) => call(key, 'POST', tasksPath, body, headers);
    const created = async (body: object): Promise<string> => {
      const answer = await create({ model: 'seedance', content: [text('a lighthouse')], ...body });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body), ['id']);
      return String(answer.body['id']);
    };
    return {
      accountId,
      key,
      create,
      created,
      get: (id: string) => call(key, 'GET', `${tasksPath}/${id}`),
      list: (query = '') => call(key, 'GET', `${tasksPath}${query}`),
      remove: (id: string) => call(key, 'DELETE', `${tasksPath}/${id}`),
      native: async (id: string) => (await started.recordInfo(key, id)).json.data,
      balance: async () => (await findAccount(started.database.db, accountId))?.balance,
    };
  }

  async function succeeded(taskId: string, withLastFrame = false): Promise<void> {
    const key = (name: string) => `results/${taskId}/${name}`;
    await completeTask(started.database.db, taskId, {
      ...madeUpMeasures,
      videoKey: key('video.mp4'),
      posterKey: key('poster.jpg'),
      ...(withLastFrame && { lastFrameKey: key('last.jpg') }),
    });
  }

  return { service: () => started, client, call, succeeded };
}
