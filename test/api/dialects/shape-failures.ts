import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { errorCatalogue, type ErrorCode } from '../../../src/api/core/error-catalogue.ts';
import { createRateLimiter } from '../../../src/api/core/limits/rate-limits.ts';
import { withUploadSlot } from '../../../src/api/core/limits/upload-slots.ts';
import { maxUploadsOfAccount } from '../../../src/media/references/upload-limits-and-addresses.ts';
import { readBalanceAndEntries } from '../../../src/credits/ledger/ledger-entries-and-book-credits.ts';
import { setSpendCaps } from '../../../src/accounts/limits/spend-caps.ts';
import type { Moderator, ModerationVerdict } from '../../../src/providers/moderation/moderator.ts';
import { noModerator } from '../../support/service/defaults/no-moderator.ts';
import { DatabaseUnavailableError } from '../../../src/platform/database/database.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import type { Answer } from '../../support/service/http-client.ts';
import { type HttpService, type HttpServiceOptions, startHttpService } from '../../support/service/http-service.ts';
import { dataUrl } from './data-url.ts';

/** The create of a shape. */
type ShapeCreate = {
  readonly path: string;
  readonly success: number;
  /** Returns a body that costs less than 1000 credits, with an image if there is one. */
  readonly body: (prompt: string, image?: string) => object;
};

const hourMs = 3_600_000;

/** Produces every failure of a create that has causes of its own; test/api/outcomes.test.ts produces the others. */
export function testCreateFailures({ path, success, body }: ShapeCreate): void {
  let database: TestDatabase;
  let shared: HttpService;
  before(async () => {
    database = await createTestDatabase();
    shared = await startHttpService({ database });
  });
  after(async () => {
    await shared.close();
    await database.close();
  });

  type Account = Awaited<ReturnType<HttpService['newAccount']>>;
  type Stage = {
    readonly service: HttpService;
    readonly account: Account;
    readonly create: (content?: object, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
    readonly sql: (name: string, text: string) => Promise<unknown>;
  };

  const accept = async (creating: Promise<Answer>): Promise<void> => {
    const { status, bytes } = await creating;
    assert.equal(status, success, bytes.toString());
  };
  const setAccount = ({ sql }: Stage, change: string) =>
    sql(`test-account-${change.replaceAll(/\W/g, '')}`, `update accounts set ${change} where id = $1`);

  const failures: Readonly<
    Partial<Record<ErrorCode, { options?: HttpServiceOptions; produce: (stage: Stage) => Promise<Answer> }>>
  > = {
    insufficient_credits: {
      produce: async (stage) => {
        await setAccount(stage, 'max_unfinished_tasks = 1000');
        let answer = await stage.create();
        while (answer.status === success) answer = await stage.create();
        return answer;
      },
    },
    spend_cap_reached: {
      produce: async ({ create, service, account: { accountId } }) => {
        const subject = { kind: 'account', id: accountId } as const;
        await setSpendCaps(service.database.db, accountId, subject, { total: 0 });
        return create();
      },
    },
    model_not_allowed: {
      produce: async ({ create, sql }) => {
        await sql('test-allow-no-model', `update api_keys set models = array['another'] where account_id = $1`);
        return create();
      },
    },
    idempotency_key_reused: {
      produce: async ({ create }) => {
        await accept(create(body('one'), { 'idempotency-key': 'k' }));
        return create(body('another'), { 'idempotency-key': 'k' });
      },
    },
    content_deleted: {
      produce: async ({ create, sql }) => {
        await accept(create(body('one'), { 'idempotency-key': 'k' }));
        await sql('test-delete-content', `update tasks set content_deleted_at = now() where account_id = $1`);
        return create(body('one'), { 'idempotency-key': 'k' });
      },
    },
    too_many_unfinished_tasks: {
      produce: async (stage) => {
        await setAccount(stage, 'max_unfinished_tasks = 0');
        return stage.create();
      },
    },
    account_suspended: {
      produce: async (stage) => {
        await setAccount(stage, 'suspended_at = now()');
        return stage.create();
      },
    },
    model_unavailable: { options: { isSold: () => false }, produce: ({ create }) => create() },
    content_refused: {
      options: { moderator: moderatorThat({ kind: 'refused', category: 'violence' }) },
      produce: ({ create }) => create(),
    },
    moderation_unavailable: {
      options: { moderator: moderatorThat({ kind: 'unchecked' }) },
      produce: ({ create }) => create(),
    },
    rate_limited: {
      options: { createRate: { quota: 1, windowMs: hourMs } },
      produce: async ({ create }) => {
        await accept(create());
        return create();
      },
    },
    too_many_refused_creates: {
      options: { refusedCreates: createRateLimiter({ quota: 1, windowMs: hourMs }) },
      produce: async ({ create }) => {
        assert.equal((await create({ nonsense: 1 })).status, 422);
        return create();
      },
    },
    acceptance_unknown: {
      options: { acceptCreate: uncertainly() },
      produce: ({ create }) => create(body('one'), { 'idempotency-key': 'k' }),
    },
    acceptance_reverted: { options: { acceptCreate: uncertainly() }, produce: ({ create }) => create() },
    malformed_form: {
      produce: ({ create }) => create({}, { 'content-type': 'multipart/form-data; boundary=x' }),
    },
    too_many_uploads: {
      produce: async ({ create, sql }) => {
        await sql(
          'test-many-uploads',
          `insert into uploads (id, account_id, file_name, bytes, expires_at)
           select gen_random_uuid(), $1, 'video.mp4', 1, now() + interval '1 day' from generate_series(1, ${maxUploadsOfAccount})`,
        );
        return create(body('one', await dataUrl()));
      },
    },
    uploads_busy: {
      produce: async ({ create, account: { accountId } }) => {
        let release = () => undefined as void;
        const held = new Promise<void>((resolve) => (release = resolve));
        const slots = [1, 2].map(() => withUploadSlot({ accountId, bytes: 0 }, () => held));
        const answer = await create(body('x'.repeat(300_000)));
        release();
        await Promise.all(slots);
        return answer;
      },
    },
  };

  for (const [failure, { options = {}, produce }] of Object.entries(failures)) {
    const known = new Map(Object.entries(errorCatalogue)).get(failure);
    test(`${known?.status} POST ${path}: ${failure}`, () =>
      withStage(options, async (stage) => assertFailure(await produce(stage), failure)));
  }

  test(`409 POST ${path}: account_closed, when the account is closed while its file arrives`, () =>
    withStage({}, async (base) => {
      const close = () => setAccount(base, 'closed_at = now(), suspended_at = now()');
      const storeUpload: HttpServiceOptions['storeUpload'] = async (...upload) => {
        await close();
        return base.service.deps.storeUpload(...upload);
      };
      await withStage({ storeUpload }, async ({ create }) =>
        assertFailure(
          await create(body('one', await dataUrl()), { authorization: `Bearer ${base.account.key}` }),
          'account_closed',
        ),
      );
    }));

  test(`${success} POST ${path} when the task is accepted, and the database is unavailable before it can be read`, () => {
    const db: HttpServiceOptions['db'] = {
      ...database.db,
      run: (statement, values) =>
        statement.name === 'find-task'
          ? Promise.reject(new DatabaseUnavailableError(false, new Error('planted')))
          : database.db.run(statement, values),
    };
    return withStage({ db }, async ({ create, service, account: { accountId } }) => {
      // A 503 would state that nothing was charged, and the client would buy again.
      await accept(create());
      const charges = await readBalanceAndEntries(database.db, { accountId, kind: 'charge', limit: 10 });
      assert.deepEqual(
        service.started.map(({ taskId }) => taskId),
        charges.entries.map(({ taskId }) => taskId),
      );
      assert.equal(charges.entries.length, 1);
    });
  });

  /** Uses the service that the tests share, or one of its own if it needs options. */
  async function withStage(options: HttpServiceOptions, work: (stage: Stage) => Promise<void>): Promise<void> {
    const isShared = Object.keys(options).length === 0;
    const service = isShared ? shared : await startHttpService({ database, ...options });
    try {
      const account = await service.newAccount(1000);
      await work({
        service,
        account,
        create: (content = body('A lighthouse'), headers = {}) =>
          service.send('POST', path, {
            headers: { authorization: `Bearer ${account.key}`, 'content-type': 'application/json', ...headers },
            body: JSON.stringify(content),
          }),
        sql: (name, text) => database.db.run({ name, text }, [account.accountId]),
      });
    } finally {
      if (!isShared) await service.close();
    }
  }
}

/** The shape's own form of an error has our code inside. */
export function assertFailure({ status, bytes }: Pick<Answer, 'status' | 'bytes'>, failure: string): void {
  const text = bytes.toString();
  assert.ok(text.includes(`"${failure}"`), text);
  assert.equal(status, new Map(Object.entries(errorCatalogue)).get(failure)?.status, text);
}

function moderatorThat(verdict: ModerationVerdict): Moderator {
  return { ...noModerator, checks: () => true, check: () => Promise.resolve(verdict) };
}

/** The first try may have been committed, and the second one fails. */
function uncertainly(): NonNullable<HttpServiceOptions['acceptCreate']> {
  let tries = 0;
  return () => {
    tries += 1;
    return Promise.reject(tries === 1 ? new DatabaseUnavailableError(true, new Error('broken')) : new Error('planted'));
  };
}
