import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { listAllSecurityEvents } from '../../../src/accounts/people/security-events.ts';
import { createUser, setUserDisabled } from '../../../src/accounts/people/users.ts';
import {
  consumeLink,
  createInvitation,
  createOneTimeLink,
  findLink,
  listInvitations,
  listInvitationsToEmail,
  listOperatorInvitations,
  withdrawInvitation,
  withdrawInvitationsByEmailAndAccount,
  withdrawLinksToEmail,
  withdrawResetLinks,
  withdrawSetupLinks,
} from '../../../src/accounts/sign-in/one-time-links.ts';
import { createAccount } from '../../../src/credits/open-account.ts';
import type { StatementRunner } from '../../../src/platform/database/declare-statements.ts';
import { hashToken, newToken } from '../../../src/platform/secrets/secret-token.ts';
import { ago, insertRow, rolledBack } from '../../support/database/rolled-back.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/test-database.ts';
import { origin } from '../../support/service/person.ts';

let database: TestDatabase;
let accountId: string;
let otherAccountId: string;
before(async () => {
  database = await createTestDatabase();
  accountId = await createAccount(database.db, { name: 'own', credits: 0 });
  otherAccountId = await createAccount(database.db, { name: 'other', credits: 0 });
});
after(() => database.close());

let links = 0;
const [email, stranger] = ['a@example.com', 'b@example.com'];
const by = { actor: 'ada', origin };

/** An invitation to the account, unless `row` says otherwise; ids grow with each link. */
async function addLink(db: StatementRunner, row: Readonly<Record<string, unknown>> = {}) {
  const [token, linkId] = [newToken(), `00000000-0000-4000-8000-${String((links += 1)).padStart(12, '0')}`];
  const about = { id: linkId, hash: hashToken(token), purpose: 'invite', email, expires_at: ago(-5) };
  await insertRow(db, 'one_time_links', { ...about, account_id: accountId, role: 'member', ...row });
  return { token, linkId };
}

const noAccount = { account_id: null, role: null };
const ofOperator = { ...noAccount, makes_operator: true };
const setup = { ...noAccount, purpose: 'setup', email: null };
const reset = { ...noAccount, purpose: 'reset' };

type Added = Awaited<ReturnType<typeof addLink>>;
const openOnes = async (db: StatementRunner, all: readonly Added[]) => {
  const found = await Promise.all(all.map(async ({ token }) => (await findLink(db, token)) !== undefined));
  return all.filter((_link, index) => found[index]).map(({ linkId }) => all.findIndex((one) => one.linkId === linkId));
};

test('a link is open until its end, its use or its withdrawal, and one of the setup until there is an operator', () =>
  rolledBack(database.db, async (db) => {
    for (const [row, isOpen] of [
      [{ expires_at: ago(-1) }, true],
      [{ expires_at: ago(0) }, false],
      [{ used_at: ago(5) }, false],
      [{ withdrawn_at: ago(5) }, false],
    ] as const) {
      const { token, linkId } = await addLink(db, row);
      assert.equal((await findLink(db, token)) !== undefined, isOpen, JSON.stringify(row));
      assert.deepEqual(await consumeLink(db, linkId), isOpen ? { linkId } : undefined);
      assert.deepEqual([await findLink(db, token), await consumeLink(db, linkId)], [undefined, undefined]);
    }
    const [first, invitation] = [await addLink(db, setup), await addLink(db)];
    await createUser(db, { email: stranger, passwordHash: undefined, isOperator: false });
    const isOpen = async () => (await findLink(db, first.token)) !== undefined;
    assert.equal(await isOpen(), true);
    const { userId } = await createUser(db, { email, passwordHash: undefined, isOperator: true });
    assert.deepEqual([await isOpen(), await consumeLink(db, first.linkId)], [false, undefined]);
    assert.ok(await findLink(db, invitation.token));
    await setUserDisabled(db, userId, true);
    assert.equal(await isOpen(), true);
  }));

test('a link has what it was made with, for as long as its purpose allows', () =>
  rolledBack(database.db, async (db) => {
    const text = 'select floor(extract(epoch from now()) * 1000)::bigint as at';
    const [row] = await db.run<{ at: number }>({ name: 'test-now-ms', text });
    const at = row?.at ?? assert.fail();
    const hourMs = 3_600_000;
    const request = {
      address: 'x',
      mailboxHash: Buffer.alloc(32, 1),
      codeHash: Buffer.alloc(32, 2),
      isRegistered: false,
    };
    for (const [purpose, lifeMs, grant] of [
      ['setup', hourMs / 2, { isOperator: true }],
      ['invite', 48 * hourMs, { email, accountId, role: 'viewer', isOperator: false }],
      ['reset', 48 * hourMs, { email, isOperator: false }],
      ['confirm', 48 * hourMs, { email, isOperator: false, request }],
    ] as const) {
      const { linkId, token, expiresAt, ...made } = await createOneTimeLink(db, { purpose, ...grant });
      assert.deepEqual(made, { purpose });
      assert.equal(Math.abs(expiresAt - at - lifeMs) <= 1, true, purpose);
      const none = { email: undefined, accountId: undefined, role: undefined, codeHash: undefined };
      const { request: ofSignUp, ...stored } = { request: undefined, ...grant };
      const accountName = purpose === 'invite' ? 'own' : undefined;
      const codeHash = ofSignUp && { codeHash: ofSignUp.codeHash };
      const about = { linkId, purpose, accountName, expiresAt };
      assert.deepEqual(await findLink(db, token), { ...none, ...about, ...stored, ...codeHash });
    }
    const registered = { email, isOperator: false, request: { ...request, isRegistered: true } };
    const { token } = await createOneTimeLink(db, { purpose: 'confirm', ...registered });
    assert.equal(await findLink(db, token), undefined, 'the mailbox has a user');
    const rows = await db.run({
      name: 'test-requests',
      text: 'select address, mailbox_hash as mailbox, withdrawn_at is null as open from one_time_links where address is not null order by open',
    });
    const stored = { address: 'x', mailbox: request.mailboxHash };
    assert.deepEqual(rows, [
      { ...stored, open: false },
      { ...stored, open: true },
    ]);
  }));

test('open invitations are listed by account, by e-mail and of operators, in their order and in pages', () =>
  rolledBack(database.db, async (db) => {
    const own = [await addLink(db), await addLink(db, { email: stranger, role: 'viewer' })] as const;
    const elsewhere = await addLink(db, { account_id: otherAccountId });
    const operators = [
      await addLink(db, ofOperator),
      await addLink(db, { makes_operator: true, email: stranger, account_id: otherAccountId }),
    ] as const;
    for (const row of [reset, { ...reset, makes_operator: true }, { expires_at: ago(0) }, { used_at: ago(0) }])
      await addLink(db, row);
    const ids = (all: readonly { readonly linkId: string }[]) => all.map(({ linkId }) => linkId);
    const invitations = await listInvitations(db, accountId);
    assert.deepEqual(
      invitations.map(({ expiresAt, ...one }) => ({ ...one, isTimed: expiresAt > 0 })),
      [
        { linkId: own[1].linkId, email: stranger, role: 'viewer', isTimed: true },
        { linkId: own[0].linkId, email, role: 'member', isTimed: true },
      ],
    );
    assert.deepEqual(await listInvitations(db, accountId, { limit: 1 }), invitations.slice(0, 1));
    assert.deepEqual(await listInvitations(db, accountId, { before: own[1].linkId }), invitations.slice(1));
    assert.deepEqual(ids(await listInvitationsToEmail(db, email)), ids([own[0], elsewhere, operators[0]]));
    assert.deepEqual(
      (await listOperatorInvitations(db)).map(({ linkId, accountId: into, accountName, role }) => [
        linkId,
        into,
        accountName,
        role,
      ]),
      [
        [operators[1].linkId, otherAccountId, 'other', 'member'],
        [operators[0].linkId, undefined, undefined, undefined],
      ],
    );
  }));

test('a withdrawal ends the links that it names and no other ones, and is an event for each', () =>
  rolledBack(database.db, async (db) => {
    const added = async () => [
      await addLink(db),
      await addLink(db, { email: stranger }),
      await addLink(db, { account_id: otherAccountId }),
      await addLink(db, ofOperator),
      await addLink(db, reset),
      await addLink(db, setup),
      await addLink(db, { expires_at: ago(0) }),
    ];
    const all = [0, 1, 2, 3, 4, 5];
    const without = (...ends: readonly number[]) => all.filter((index) => !ends.includes(index));
    const withdrawn = (of: string, account?: string) => ({ email: of, accountId: account });
    for (const [what, withdraw, result, left] of [
      [
        'one',
        ([own]: Added[]) => withdrawInvitation(db, by, own?.linkId ?? '', accountId),
        withdrawn(email, accountId),
        without(0),
      ],
      [
        'of another account',
        ([own]: Added[]) => withdrawInvitation(db, by, own?.linkId ?? '', otherAccountId),
        undefined,
        all,
      ],
      ['one that makes no operator', ([own]: Added[]) => withdrawInvitation(db, by, own?.linkId ?? ''), undefined, all],
      [
        'of an operator',
        (of: Added[]) => withdrawInvitation(db, by, of[3]?.linkId ?? ''),
        withdrawn(email),
        without(3),
      ],
      ['no invitation', (of: Added[]) => withdrawInvitation(db, by, of[4]?.linkId ?? ''), undefined, all],
      [
        'to an e-mail',
        () => withdrawInvitationsByEmailAndAccount(db, by, email, accountId),
        [withdrawn(email, accountId)],
        without(0),
      ],
      [
        'into no account',
        () => withdrawInvitationsByEmailAndAccount(db, by, email, undefined),
        [withdrawn(email)],
        without(3),
      ],
      ['resets', () => withdrawResetLinks(db, email), undefined, without(4)],
      ['resets of no one', () => withdrawResetLinks(db, stranger), undefined, all],
      ['of the setup', () => withdrawSetupLinks(db), undefined, without(5)],
    ] as const) {
      const own = await added();
      assert.deepEqual(await withdraw(own), result, what);
      assert.deepEqual(await openOnes(db, own), left, what);
      await db.run({ name: 'test-no-links', text: 'delete from one_time_links' });
    }
    const own = await added();
    const earlier = (await listAllSecurityEvents(db, { limit: 99 })).length;
    assert.equal((await withdrawLinksToEmail(db, by, email)).length, 4);
    assert.deepEqual(await openOnes(db, own), without(0, 2, 3, 4));
    const events = await listAllSecurityEvents(db, { limit: 99 });
    assert.equal(events.length - earlier, 4);
    const event = events.find((one) => one.accountId === otherAccountId) ?? assert.fail();
    const { eventId: _id, createdAt: _at, ...fields } = event;
    const details = { purpose: 'invite', role: 'member', isOperator: false };
    const about = { kind: 'link_withdrawn', userId: undefined, email, accountId: otherAccountId, actor: 'ada' };
    assert.deepEqual(fields, { ...about, ...origin, details });
  }));

test('a new invitation replaces the one to the same e-mail and account, and is an event', () =>
  rolledBack(database.db, async (db) => {
    const others = [await addLink(db, { email: stranger }), await addLink(db, { account_id: otherAccountId })];
    const first = await addLink(db);
    const invitee = { email, accountId, role: 'owner', isOperator: false } as const;
    const { linkId, token } = await createInvitation(db, by, invitee);
    assert.deepEqual(await openOnes(db, [...others, first, { linkId, token }]), [0, 1, 3]);
    const link = (await findLink(db, token)) ?? assert.fail();
    const { purpose, email: to, accountId: into, role, isOperator } = link;
    assert.deepEqual({ purpose, email: to, accountId: into, role, isOperator }, { purpose: 'invite', ...invitee });
    const kinds = (await listAllSecurityEvents(db, { limit: 2 })).map(({ kind, actor, details }) => [
      kind,
      actor,
      details,
    ]);
    const details = { email, role: 'owner', isOperator: false };
    assert.deepEqual(kinds[0], ['link_made', 'ada', details]);
    assert.equal(kinds[1]?.[0], 'link_withdrawn');
    assert.equal(await consumeLink(db, randomUUID()), undefined);
  }));
