import assert from 'node:assert/strict';
import net from 'node:net';
import { platform } from 'node:process';
import tls from 'node:tls';
import { test } from 'node:test';
import { createMailer, verifyMailServer } from '../../../src/platform/mail/mailer.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';

const account = { user: 'videogen@example.com', password: 'the-password' };
const mail = { subject: 'Hello', text: 'https://example.com/#token' };
/** Another address of this machine counts as elsewhere. */
const elsewhere = { host: '127.0.0.2' };
const skip = platform === 'linux' ? false : 'this system has one loopback address';

test('a server elsewhere that offers no TLS gets neither password nor mail', { skip }, async (t) => {
  const mails = await startMailServer({ ...account, ...elsewhere });
  t.after(() => mails.close());
  await assert.rejects(createMailer({ url: mails.url, from: 'a@example.com' })('ann@example.com', mail), /TLS/);
  assert.deepEqual([mails.received, mails.passwords], [[], []]);
});

test('a server elsewhere that wants no password gets mails without TLS, too', { skip }, async (t) => {
  const mails = await startMailServer(elsewhere);
  t.after(() => mails.close());
  await createMailer({ url: mails.url, from: 'a@example.com' })('ann@example.com', mail);
  assert.deepEqual([mails.received.map(({ to }) => to), mails.encrypted], [['ann@example.com'], [false]]);
});

test('a server on this machine, under any of its names, gets password and mail without TLS', async (t) => {
  const mails = await startMailServer(account);
  t.after(() => mails.close());
  const { connect } = net;
  // The server has one of the addresses, and this machine may lack the other.
  const connectToServer = (options: net.TcpNetConnectOpts, onConnect: () => void) =>
    connect({ ...options, host: '127.0.0.1' }, onConnect);
  t.mock.method(net, 'connect', connectToServer as typeof net.connect);
  for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
    const url = mails.url.replace('127.0.0.1', host);
    await createMailer({ url, from: 'a@example.com' })('ann@example.com', mail);
  }
  const [passwords, encrypted] = [Array<string>(3).fill(account.password), Array<boolean>(3).fill(false)];
  assert.deepEqual([mails.passwords, mails.encrypted], [passwords, encrypted]);
});

test('a mail goes to one address, however it is written, and no program answers it', async (t) => {
  const mails = await startMailServer();
  t.after(() => mails.close());
  const from = 'Us <a@example.com>';
  await createMailer({ url: mails.url, from })('ann,eve@example.com', mail);
  const text = `${mail.text}\n`;
  const sent = { to: '"ann,eve"@example.com', from, subject: mail.subject, text, automatic: 'auto-generated' };
  assert.deepEqual(mails.received, [sent]);
});

test('a text that the server refuses is not sent again', async (t) => {
  const mails = await startMailServer();
  t.after(() => mails.close());
  mails.behavior = 'reject text';
  const sending = createMailer({ url: mails.url, from: 'a@example.com' })('ann@example.com', mail);
  await assert.rejects(sending, { name: 'MailRefusedError' });
});

test('a mail server without a port is connected to at the port of its protocol', async (t) => {
  const asked: unknown[] = [];
  const refuse = ({ port }: { readonly port?: number }) => {
    asked.push(port);
    const socket = new net.Socket();
    setImmediate(() => socket.destroy(new Error('refused by the test')));
    return socket;
  };
  t.mock.method(net, 'connect', refuse as typeof net.connect);
  t.mock.method(tls, 'connect', refuse as never);
  for (const url of ['smtp://127.0.0.1', 'smtps://[::1]']) {
    const sending = createMailer({ url, from: 'a@example.com' })('ann@example.com', mail);
    await assert.rejects(sending, /refused by the test/, url);
  }
  assert.deepEqual(asked, [587, 465]);
});

test('a mail server is verified with the password and without a mail; a wrong password and silence are errors', async (t) => {
  const mails = await startMailServer(account);
  t.after(() => mails.close());
  const settings = { url: mails.url, from: 'a@example.com' };
  await verifyMailServer(settings);
  assert.deepEqual([mails.received, mails.passwords], [[], [account.password]]);
  const wrong = { ...settings, url: mails.url.replace(account.password, 'another') };
  await assert.rejects(verifyMailServer(wrong), /wrong password/);
  mails.behavior = 'hang';
  await assert.rejects(verifyMailServer(settings, 50), { code: 'ETIMEDOUT' });
});
