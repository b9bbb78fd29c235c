import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCodesAs } from '../../../src/credits/ledger/redemption-codes.ts';
import { createMailQueue, mailKeyPurpose } from '../../../src/platform/mail/mail-queue.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import { confirmSignUpAndSignIn } from '../../../src/credits/sign-up/confirm-sign-up.ts';
import { findLink, type Link, type LinkWithToken } from '../../../src/accounts/sign-in/one-time-links.ts';
import {
  listUnconfirmedSignUps,
  renewSignUpLinkAs,
  requestSignUp,
  type SignUpPolicy,
} from '../../../src/credits/sign-up/request-sign-up.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { findLedgerViolationsByIds } from '../../../src/credits/ledger/audit-rules.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { goodPassword, newBrowser, origin, shell } from '../../support/service/person.ts';

const policy: SignUpPolicy = {
  mode: 'code',
  domains: [],
  credits: 50,
  secrets: ['s'],
  hourlyLimit: 1_000,
  hourlyLimitPerAddress: 1_000,
};
const mails = createMailQueue(createSecretBox('s'.repeat(32), [], mailKeyPurpose));

let service: HttpService;
before(async () => {
  service = await startHttpService({ signUp: policy, mails });
});
after(() => service.close());

const db = () => service.database.db;

/** A database whose connection dies before the statement with this number; the commit counts as the last one. */
function dyingAt(number: number) {
  let reached = 0;
  const dying: Database = {
    ...db(),
    transaction: (work) =>
      db().transaction(async (run) => {
        const die = () => run({ name: 'test-die', text: 'select pg_terminate_backend(pg_backend_pid())' });
        const result = await work(async (statement, values) => {
          if ((reached += 1) === number) await die();
          return run(statement, values);
        });
        if ((reached += 1) === number) await die();
        return result;
      }),
  };
  return { db: dying, reached: () => reached };
}

/** Statements of a work whose connection dies before each of them and before the commit, one after the other, until it succeeds. */
async function killEverywhere(
  work: (dying: Database) => Promise<unknown>,
  check: () => Promise<void>,
): Promise<number> {
  for (let number = 1; ; number += 1) {
    const dying = dyingAt(number);
    const isKilled = await work(dying.db).then(
      () => false,
      () => true,
    );
    if (!isKilled) return dying.reached();
    assert.equal(dying.reached(), number);
    await check();
  }
}

async function count(text: string, ...values: readonly unknown[]): Promise<number> {
  const rows = await db().run({ name: 'test-count', text, plannedAnew: true }, values);
  return rows.length;
}

async function counts(email: string) {
  const ofUser = `from memberships join users on users.id = user_id`;
  return {
    users: await count('select from users where email = $1', email),
    accounts: await count(`select ${ofUser} where email = $1 and role = 'owner'`, email),
    grants: await count(
      `select ${ofUser} join ledger_entries on ledger_entries.account_id = memberships.account_id where email = $1`,
      email,
    ),
  };
}

/** Every account and ledger entry of the installation. */
const totals = async () => [await count('select from accounts'), await count('select from ledger_entries')];

async function requested(email: string): Promise<LinkWithToken & { readonly link: Link }> {
  const { codes } = await createCodesAs(db(), shell, { name: 'test', credits: 20, codes: 1 });
  assert.equal(
    await requestSignUp(db(), policy, { email, address: origin.address, code: codes[0] ?? '' }, mails),
    'requested',
  );
  const found = (await listUnconfirmedSignUps(db(), 100)).find((one) => one.email === email);
  const renewed = await renewSignUpLinkAs(db(), shell, found?.linkId ?? '');
  const link = await findLink(db(), renewed?.token ?? '');
  assert.ok(renewed && link);
  return { ...renewed, link };
}

const confirmation = (link: Link, email: string) => ({
  link,
  email,
  passwordHash: 'a hash',
  policy,
  origin,
  requestId: 'test',
});

test('a crash before any step of a confirmation leaves neither user, account nor credits, and the link open; then it works once', async () => {
  const email = 'crash@example.com';
  const { token, link } = await requested(email);
  const earlier = await totals();
  const killed = await killEverywhere(
    (dying) => confirmSignUpAndSignIn(dying, confirmation(link, email)),
    async () => {
      assert.deepEqual(await totals(), earlier);
      assert.deepEqual(await counts(email), { users: 0, accounts: 0, grants: 0 });
      assert.ok(await findLink(db(), token), 'the link is open');
    },
  );
  assert.ok(killed > 12, `it has ${killed} steps`);
  assert.deepEqual(await counts(email), { users: 1, accounts: 1, grants: 2 }, 'the start credit, and that of the code');
  const confirmed = await totals();
  assert.equal(await confirmSignUpAndSignIn(db(), confirmation(link, email)), undefined, 'after a lost response');
  assert.deepEqual(await totals(), confirmed);
  const accounts = await db().run<{ id: string }>({ name: 'test-accounts', text: 'select id from accounts' });
  assert.deepEqual(await findLedgerViolationsByIds(db(), { accounts: accounts.map(({ id }) => id) }), []);
});

test('a crash before any step of a request leaves neither a link nor a mail', async () => {
  const { codes } = await createCodesAs(db(), shell, { name: 'test', credits: 20, codes: 1 });
  const wish = { email: 'lost@example.com', address: origin.address, code: codes[0] ?? '' };
  const rows = async () => [
    await count('select from one_time_links where email = $1', wish.email),
    await count('select from mails where recipient = $1', wish.email),
  ];
  const killed = await killEverywhere(
    (dying) => requestSignUp(dying, policy, wish, mails),
    async () => assert.deepEqual(await rows(), [0, 0]),
  );
  assert.ok(killed > 5, `it has ${killed} steps`);
  assert.deepEqual(await rows(), [1, 1]);
});

test('of concurrent confirmations of one link, or of two links to one address, one opens an account', async () => {
  const email = 'twice@example.com';
  const [first, second] = [await requested(email), await requested(email)];
  const tokens = [first.token, first.token, first.token, second.token, second.token];
  const earlier = await totals();
  const answers = await Promise.all(
    tokens.map((token) =>
      newBrowser(service).ask('POST', '/api/console/v1/links/accept', { body: { token, password: goodPassword } }),
    ),
  );
  const outcomes = answers.map(({ status, json }) => json.error ?? status);
  assert.deepEqual(
    outcomes.filter((outcome) => outcome === 200),
    [200],
    JSON.stringify(outcomes),
  );
  assert.deepEqual(await counts(email), { users: 1, accounts: 1, grants: 2 });
  assert.deepEqual(
    await totals(),
    earlier.map((total, index) => total + index + 1),
  );
});
