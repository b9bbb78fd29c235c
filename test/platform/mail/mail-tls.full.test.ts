import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { makeCertificates, skipsWithoutOpenssl } from '../../support/proxies/certificates.ts';
import { startMailServer } from '../../support/servers/mail-server.ts';

// Node.js reads the authorities that it trusts when a process starts, so mails are sent by processes of their own.

const folder = mkdtempSync(join(tmpdir(), 'videogen-mail-tls-'));
after(() => rm(folder, { recursive: true }));

const skip = skipsWithoutOpenssl;
const { ca, otherCa, server } =
  skip === false ? makeCertificates(folder, 'unused') : { ca: '', otherCa: '', server: undefined };
const tlsOf = (kind: 'implicit' | 'starttls') =>
  server && { tls: { kind, cert: readFileSync(server.cert), key: readFileSync(server.key) } };
const account = { user: 'videogen', password: 'the-password' };

/** Sends a mail in a process that trusts an authority. Returns the error's message, or an empty text. */
async function send(url: string, trusted: string): Promise<string> {
  const script = `
    const { createMailer } = await import(process.argv[1]);
    const mailer = createMailer({ url: process.argv[2], from: 'no-reply@example.com' });
    await mailer('ann@example.com', { subject: 'Hello', text: 'https://example.com/#token' }).catch(({ message }) => process.stdout.write(message));`;
  const mailer = new URL('../../../src/platform/mail/mailer.js', import.meta.url).href;
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: trusted };
  const args = ['--input-type=module', '--eval', script, mailer, url];
  return (await promisify(execFile)(process.execPath, args, { env })).stdout;
}

for (const kind of ['implicit', 'starttls'] as const) {
  test(
    `password and mail travel encrypted to a server with ${kind} TLS whose certificate is trusted, and only there`,
    { skip },
    async () => {
      const mails = await startMailServer({ ...account, ...tlsOf(kind) });
      try {
        assert.equal(await send(mails.url, ca), '');
        assert.deepEqual([mails.received.map(({ to }) => to), mails.encrypted], [['ann@example.com'], [true]]);
        assert.deepEqual(mails.passwords, [account.password]);
        assert.match(await send(mails.url, otherCa), /certificate/);
        // The certificate has another name.
        assert.match(await send(mails.url.replace('localhost', '127.0.0.1'), ca), /altnames|IP/);
        assert.deepEqual([mails.received.length, mails.passwords.length], [1, 1]);
      } finally {
        await mails.close();
      }
    },
  );
}
