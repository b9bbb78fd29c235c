import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import {
  createMailQueue,
  endMail,
  mailKeyPurpose,
  maxMailAttempts,
  takeDueMails,
} from '../../../src/platform/mail/mail-queue.ts';
import { createDatabase } from '../../../src/platform/database/database.ts';
import { mailSignatureOf } from '../../../src/platform/brand/brand.ts';
import { defaultBrand } from '../../support/service/defaults/default-brand.ts';
import { sendDueMails, sendMailsUntilClosed } from '../../../src/platform/mail/send-mails.ts';
import { createSecretBox } from '../../../src/platform/secrets/secret-box.ts';
import type { SignUpPolicy } from '../../../src/credits/sign-up/request-sign-up.ts';
import { assertSince } from '../../support/assert-since.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { linkIn, type MailServer, startMailServer, tokenIn } from '../../support/servers/mail-server.ts';
import { newBrowser, newMember, newPerson, type Person } from '../../support/service/person.ts';
import { waitFor } from '../../support/wait-for.ts';

const box = createSecretBox('s'.repeat(32), [], mailKeyPurpose);
const signUp: SignUpPolicy = {
  mode: 'open',
  domains: [],
  credits: 0,
  secrets: ['s'],
  hourlyLimit: 1_000,
  hourlyLimitPerAddress: 1_000,
};
const from = 'no-reply@example.com';

let mailServer: MailServer;
let service: HttpService;
let operator: Person;
before(async () => {
  mailServer = await startMailServer();
  service = await startHttpService({ mails: createMailQueue(box), signUp });
  operator = await newPerson(service, { isOperator: true });
});
after(async () => {
  await service.close();
  await mailServer.close();
});
beforeEach(async () => {
  mailServer.behavior = 'accept';
  await query('delete from mails');
});

async function query(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  return service.database.db.run({ name: 'test-mail', text, plannedAnew: true }, values);
}

const senderTo = (url: string, silentMs?: number) => ({
  db: service.database.db,
  box,
  mailer: createMailer({ url, from }, silentMs === undefined ? {} : { silentMs }),
  service: mailSignatureOf(defaultBrand, service.url),
  log: service.deps.log,
});
const sendAll = () => sendDueMails(senderTo(mailServer.url));
const makeDue = () => query('update mails set due_at = now()');
const mailsTo = (email: string) => mailServer.received.filter(({ to }) => to === email);
const stateOf = async (email: string) => {
  const [mail] = await query('select state, attempts, sealed_path is null as erased from mails where recipient = $1', [
    email,
  ]);
  return mail;
};
/** The lines of the log about mails, from this one on. */
const linesSince = (line: number) =>
  service.log
    .slice(line)
    .filter(({ msg }) => String(msg).startsWith('mail '))
    .map(({ time: _time, pid: _pid, hostname: _host, ...fields }) => fields);
const request = (email: string) => newBrowser(service).ask('POST', '/api/console/v1/sign-up', { body: { email } });

test('invitations and resets are also sent by e-mail, and operators get the link, too; owners of accounts do not', async () => {
  const { accountId, person: owner } = await newMember(service);
  const { userId, email } = await newPerson(service);
  const invitation = { email: 'guest@example.com', role: 'viewer' };
  const answers = [
    await owner.ask('POST', '/api/console/v1/members/invite', { accountId, body: invitation }),
    await operator.ask('POST', '/api/admin/v1/people/invite', { body: { email: 'ops@example.com', isOperator: true } }),
    await operator.ask('POST', '/api/admin/v1/people/reset', { body: { userId } }),
  ];
  await sendAll();
  for (const [index, to] of ['guest@example.com', 'ops@example.com', email].entries()) {
    const { status, json } = answers[index] ?? assert.fail();
    assert.deepEqual([status, json.data['isMailed']], [200, true]);
    const [mail] = mailsTo(to);
    assert.ok(mail);
    if (to === 'guest@example.com') assert.equal(json.data['url'], null);
    else assert.equal(linkIn(mail), json.data['url']);
    assert.match(linkIn(mail), /\/console\/(?:invite|reset)#[\w-]{43}$/);
    assert.equal(mail.from, from);
    assert.ok(
      !mail.text.replace(linkIn(mail), '').includes('test'),
      'the mail does not contain the name of the account',
    );
  }
});

test('without a mail server links are shown only, and people sign up through an operator', async () => {
  const plain = await startHttpService({ signUp, database: service.database });
  try {
    const body = { email: 'by-hand@example.com', isOperator: true };
    const boss = await newPerson(plain, { isOperator: true });
    const invited = await boss.ask('POST', '/api/admin/v1/people/invite', { body });
    assert.deepEqual([invited.status, invited.json.data['isMailed']], [200, false]);
    const path = '/api/console/v1/sign-up';
    assert.equal((await newBrowser(plain).ask('POST', path, { body: { email: 'shown@example.com' } })).status, 200);
    const { json } = await boss.ask('GET', '/api/admin/v1/sign-ups');
    const [newest] = json.data['signUps'] as { email: string; mail: unknown }[];
    assert.deepEqual([newest?.email, newest?.mail], ['shown@example.com', null]);
    assert.deepEqual(await query('select from mails'), []);
  } finally {
    await plain.close();
  }
});

test('a mail server that hangs fails no request, and the mail is sent when it answers again', async () => {
  mailServer.behavior = 'hang';
  const connections = mailServer.connections();
  assert.equal((await request('patient@example.com')).status, 200);
  const attempt = sendDueMails(senderTo(mailServer.url, 200));
  await waitFor('a connection', () => mailServer.connections() > connections || undefined);
  assert.equal((await request('other@example.com')).status, 200, 'while the attempt hangs');
  await attempt;
  assert.deepEqual(await stateOf('patient@example.com'), { state: 'waiting', attempts: 1, erased: false });
  mailServer.behavior = 'accept';
  await sendAll();
  assert.equal(mailsTo('patient@example.com').length, 0, 'it is not due yet');
  await makeDue();
  await sendAll();
  assert.equal(mailsTo('patient@example.com').length, 1);
  assert.deepEqual(await stateOf('patient@example.com'), { state: 'sent', attempts: 2, erased: true });
});

test('an unreachable or deferring mail server is retried a few times, then the mail has failed', async () => {
  await request('deferred@example.com');
  const earlierLines = service.log.length;
  mailServer.behavior = 'defer';
  for (let attempt = 1; attempt < maxMailAttempts; attempt += 1) {
    // Port 1 of this machine refuses connections.
    await sendDueMails(senderTo(attempt % 2 === 0 ? mailServer.url : 'smtp://127.0.0.1:1'));
    assert.deepEqual(await stateOf('deferred@example.com'), { state: 'waiting', attempts: attempt, erased: false });
    await makeDue();
  }
  await sendAll();
  assert.deepEqual(await stateOf('deferred@example.com'), { state: 'failed', attempts: maxMailAttempts, erased: true });
  const [link] = await query(`select id as "mailId", link_id as "linkId", kind from mails`);
  const refusals = [{ reason: 'ESOCKET' }, { reason: 'EENVELOPE', status: 451 }];
  assert.deepEqual(
    linesSince(earlierLines),
    Array.from({ length: maxMailAttempts }, (_, index) => ({
      level: 40,
      ...link,
      attempts: index + 1,
      ...refusals[index % 2],
      msg: index + 1 < maxMailAttempts ? 'mail attempt failed; it is retried' : 'mail not sent',
    })),
  );
});

test('a mail that is sent, and a queue that cannot be read, are in the log', async () => {
  const earlierLines = service.log.length;
  await request('logged@example.com');
  const [link] = await query(`select id as "mailId", link_id as "linkId", kind from mails`);
  await sendAll();
  const unreadable = { ...service.database.db, run: () => Promise.reject(new Error('planned')) };
  await sendDueMails({ ...senderTo(mailServer.url), db: unreadable });
  const [sent, failed, ...others] = linesSince(earlierLines);
  assert.deepEqual(sent, { level: 30, ...link, attempts: 1, msg: 'mail sent' });
  assert.deepEqual([failed?.['level'], failed?.['msg'], others], [40, 'mail queue unavailable', []]);
  assert.match(JSON.stringify(failed?.['error']), /"message":"planned"/);
});

test('a recipient that the server refuses, and a link that has expired, are not tried again', async () => {
  await request('refused@example.com');
  mailServer.behavior = 'reject';
  await sendAll();
  assert.deepEqual(await stateOf('refused@example.com'), { state: 'failed', attempts: 1, erased: true });
  mailServer.behavior = 'accept';
  await request('late@example.com');
  await query('update mails set expires_at = now()');
  await sendAll();
  assert.deepEqual(await stateOf('late@example.com'), { state: 'failed', attempts: 1, erased: true });
  assert.equal(mailsTo('late@example.com').length, 0);
});

test('the secret of a link is in no table and no log, and neither is the recipient in a log', async () => {
  await request('secret@example.com');
  const waiting = JSON.stringify(await query('select * from mails'));
  await sendAll();
  const [mail] = mailsTo('secret@example.com');
  const token = tokenIn(mail ?? assert.fail());
  assert.match(token, /^[\w-]{43}$/);
  assert.ok(waiting.includes('secret@example.com') && !waiting.includes(token));
  assert.ok(!JSON.stringify(await query('select * from mails')).includes(token));
  assert.ok(!JSON.stringify(service.log).includes(token));
  assert.ok(!JSON.stringify(service.log).includes('secret@example.com'));
});

test('mails of another VIDEOGEN_SECRET are not sent, and those of the previous one are', async () => {
  await request('rotated@example.com');
  const other = { ...senderTo(mailServer.url), box: createSecretBox('t'.repeat(32), [], mailKeyPurpose) };
  await sendDueMails(other);
  assert.deepEqual(await stateOf('rotated@example.com'), { state: 'waiting', attempts: 1, erased: false });
  await makeDue();
  await sendDueMails({ ...other, box: createSecretBox('t'.repeat(32), ['s'.repeat(32)], mailKeyPurpose) });
  assert.equal(mailsTo('rotated@example.com').length, 1);
});

test('a person gets five mails an hour, and the owners of an account cause thirty', async () => {
  const { accountId, person: owner } = await newMember(service);
  const invite = async (email: string) => {
    const body = { email, role: 'viewer' };
    const { status, json } = await owner.ask('POST', '/api/console/v1/members/invite', { accountId, body });
    // An owner never gets the link of another person.
    assert.equal(json.data['url'] ?? null, null);
    return status === 200 ? json.data['isMailed'] : json.error;
  };
  const toOne = [];
  for (let count = 0; count < 6; count += 1) toOne.push(await invite('flooded@example.com'));
  assert.deepEqual(toOne, [true, true, true, true, true, 'too_many_mails']);
  const open = `select from one_time_links where email = 'flooded@example.com' and withdrawn_at is null and used_at is null`;
  assert.equal((await query(open)).length, 1, 'the refused invitation has not replaced the one before');
  const toMany = [];
  for (let count = 5; count < 31; count += 1) toMany.push(await invite(`p${count}@example.com`));
  assert.deepEqual(toMany, [...Array<boolean>(25).fill(true), 'too_many_mails']);
});

test('the limits count the mails of the last hour only', async () => {
  const { accountId, person: owner } = await newMember(service);
  const invite = async (email: string) => {
    const { status, json } = await owner.ask('POST', '/api/console/v1/members/invite', {
      accountId,
      body: { email, role: 'viewer' },
    });
    return status === 200 && json.data['isMailed'];
  };
  for (let count = 0; count < 5; count += 1) assert.equal(await invite('hourly@example.com'), true);
  const copies = `
insert into mails (id, kind, link_id, recipient, account_id, sealed_path, expires_at)
select gen_random_uuid(), kind, link_id, 'h' || n || '@example.com', account_id, sealed_path, expires_at
from (select * from mails limit 1) one, generate_series(1, 25) n`;
  await query(copies);
  assert.equal(await invite('another@example.com'), false, 'the account has caused thirty');
  await query(`update mails set created_at = now() - interval '61 minutes'`);
  assert.equal(await invite('hourly@example.com'), true);
  assert.equal(await invite('another@example.com'), true);
});

test('a mail that is not taken is due again after a minute, then later and later', async () => {
  await request('paused@example.com');
  for (const seconds of [60, 300, 900, 3_600, 14_400]) {
    const startedAt = Date.now();
    await sendDueMails(senderTo('smtp://127.0.0.1:1'));
    const [mail] = await query('select extract(epoch from due_at) * 1000 as "dueMs" from mails');
    assertSince(startedAt, Math.floor(Number(mail?.['dueMs'])) - seconds * 1_000);
    await makeDue();
  }
});

test('a thousand mails wait at most; further links are delivered by hand', async () => {
  await request('first@example.com');
  await query(`
insert into mails (id, kind, link_id, recipient, sealed_path, expires_at)
select gen_random_uuid(), 'confirm', link_id, 'r' || n || '@example.com', sealed_path, expires_at from mails, generate_series(1, 999) n`);
  assert.equal((await request('one-more@example.com')).status, 200);
  assert.equal(await stateOf('one-more@example.com'), undefined);
  await query(`update mails set state = 'sent', sealed_path = null`);
  await request('room-again@example.com');
  assert.deepEqual(await stateOf('room-again@example.com'), { state: 'waiting', attempts: 0, erased: false });
});

test('the mail that has been due for longest is sent first, and one that was sent stays sent when another attempt fails', async (t) => {
  await request('later@example.com');
  await request('sooner@example.com');
  await query(`update mails set due_at = now() - interval '1 minute' where recipient = 'sooner@example.com'`);
  const fresh = createDatabase({ url: service.database.url, poolSize: 1 });
  t.after(() => fresh.close());
  const [taken] = await fresh.transaction(async (run) => {
    // An index returns this order also without the `order by` of the statement.
    for (const scan of ['indexscan', 'bitmapscan'])
      await run({ name: `test-without-${scan}`, text: `set local enable_${scan} = off` });
    return await takeDueMails({ run }, 1);
  });
  assert.equal(taken?.recipient, 'sooner@example.com');
  for (const state of ['sent', 'failed'] as const) await endMail(service.database.db, taken.mailId, state);
  assert.deepEqual(await stateOf('sooner@example.com'), { state: 'sent', attempts: 1, erased: true });
});

test('several processes send each mail once', async () => {
  const emails = Array.from({ length: 30 }, (_, index) => `shared${index}@example.com`);
  for (const email of emails) await request(email);
  await Promise.all([sendAll(), sendAll(), sendAll()]);
  assert.deepEqual(
    emails.map((email) => mailsTo(email).length),
    emails.map(() => 1),
  );
});

test('a server with a password gets it, and a wrong one is retried, since an operator can correct it', async () => {
  const guarded = await startMailServer({ user: 'videogen', password: 'p@ss word' });
  try {
    await request('guarded@example.com');
    const url = guarded.url.replace('p@ss word', encodeURIComponent('p@ss word'));
    await sendDueMails(senderTo(url.replace('ss%20', 'x')));
    assert.deepEqual(await stateOf('guarded@example.com'), { state: 'waiting', attempts: 1, erased: false });
    await makeDue();
    await sendDueMails(senderTo(url));
    assert.deepEqual(
      guarded.received.map(({ to }) => to),
      ['guarded@example.com'],
    );
  } finally {
    await guarded.close();
  }
});

test('the API sends mails automatically, also those that another process queued', async () => {
  const watching = sendMailsUntilClosed(senderTo(mailServer.url));
  try {
    await request('watched@example.com');
    await waitFor('the mail', () => mailsTo('watched@example.com')[0]);
  } finally {
    await watching.close();
  }
});
