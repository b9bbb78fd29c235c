import { SMTPServer } from 'smtp-server';
import { mailSignatureOf } from '../../../src/platform/brand/brand.ts';
import { defaultBrand } from '../service/defaults/default-brand.ts';
import { createMailer } from '../../../src/platform/mail/mailer.ts';
import { sendDueMails } from '../../../src/platform/mail/send-mails.ts';
import type { SecretBox } from '../../../src/platform/secrets/secret-box.ts';
import type { HttpService } from '../service/http-service.ts';

export type ReceivedMail = {
  readonly to: string;
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  /** The header `Auto-Submitted`, which programs that answer mails read. */
  readonly automatic: string;
};

/** `hang`: connections get no greeting. `defer` and `reject`: recipients get 451 and 550. `reject text`: texts get 500. */
type Behavior = 'accept' | 'hang' | 'defer' | 'reject' | 'reject text';

/** A real SMTP server. */
export type MailServer = {
  readonly url: string;
  readonly received: readonly ReceivedMail[];
  /** For each mail, whether its connection was encrypted. */
  readonly encrypted: readonly boolean[];
  /** Passwords that arrived. */
  readonly passwords: readonly string[];
  /** Connections so far. */
  readonly connections: () => number;
  behavior: Behavior;
  close(): Promise<void>;
};

type Options = {
  readonly user?: string;
  readonly password?: string;
  /** `implicit`: TLS from the first byte; `starttls`: the client may change to it. */
  readonly tls?: { readonly kind: 'implicit' | 'starttls'; readonly cert: Buffer; readonly key: Buffer };
  readonly host?: string;
};

export async function startMailServer({ user, password, tls, host = '127.0.0.1' }: Options = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const encrypted: boolean[] = [];
  const passwords: string[] = [];
  let connections = 0;
  const server = new SMTPServer({
    ...(tls !== undefined && { secure: tls.kind === 'implicit', cert: tls.cert, key: tls.key }),
    disabledCommands: [...(user === undefined ? ['AUTH'] : []), ...(tls?.kind === 'starttls' ? [] : ['STARTTLS'])],
    allowInsecureAuth: tls === undefined,
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth: ({ username, password: given }, _session, done) => {
      passwords.push(given ?? '');
      if (username === user && given === password) done(null, { user: username });
      else done(withCode(535, 'wrong password'));
    },
    onConnect: (_session, done) => {
      connections += 1;
      if (mails.behavior !== 'hang') done();
    },
    onRcptTo: (_address, _session, done) => {
      if (mails.behavior === 'accept' || mails.behavior === 'reject text') done();
      else done(mails.behavior === 'defer' ? withCode(451, 'greylisted') : withCode(550, 'mailbox unknown'));
    },
    onData: (stream, { envelope, secure }, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (mails.behavior === 'reject text') return done(withCode(500, 'looks like spam'));
        const to = envelope.rcptTo.map(({ address }) => address).join();
        encrypted.push(secure);
        received.push({ to, ...parseMail(Buffer.concat(chunks).toString()) });
        return done();
      });
    },
  });
  // Clients that time out break their connections.
  server.on('error', () => {});
  await new Promise<void>((listening) => server.listen(0, host, () => listening()));
  const address = server.server.address();
  if (typeof address !== 'object' || address === null) throw new Error('it listens on no port');
  const auth = user === undefined ? '' : `${user}:${password ?? ''}@`;
  const mails: MailServer = {
    url: `${tls?.kind === 'implicit' ? 'smtps' : 'smtp'}://${auth}${tls === undefined ? host : 'localhost'}:${address.port}`,
    received,
    encrypted,
    passwords,
    connections: () => connections,
    behavior: 'accept',
    close: () => new Promise((closed) => server.close(() => closed())),
  };
  return mails;
}

function withCode(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

/** Our mails are one part of text, in plain ASCII or quoted-printable. */
function parseMail(mail: string) {
  const [head = '', ...body] = mail.split('\r\n\r\n');
  const headerOf = (name: string) =>
    new RegExp(`^${name}: (.*(?:\\r\\n[ \\t].*)*)`, 'im').exec(head)?.[1]?.replaceAll(/\r\n\s*/g, ' ') ?? '';
  const encoded = body.join('\n\n').replaceAll('\r\n', '\n');
  const isQuoted = headerOf('Content-Transfer-Encoding') === 'quoted-printable';
  const decode = (text: string) =>
    text
      .replaceAll('=\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const headers = { from: headerOf('From'), subject: headerOf('Subject'), automatic: headerOf('Auto-Submitted') };
  return { ...headers, text: isQuoted ? decode(encoded) : encoded };
}

/** The address of the link in a mail. */
export function linkIn({ text }: Pick<ReceivedMail, 'text'>): string {
  return /https?:\/\/\S+/.exec(text)?.[0] ?? '';
}

export function tokenIn(mail: Pick<ReceivedMail, 'text'>): string {
  return linkIn(mail).split('#')[1] ?? '';
}

type MailSource = Pick<HttpService, 'deps' | 'url'> & { readonly box: SecretBox };

/** Sends the mails that wait; returns those to this address, oldest first. */
export async function deliveredTo(
  email: string,
  { url, received }: MailServer,
  { deps, url: serviceUrl, box }: MailSource,
) {
  const { db, log } = deps;
  const mailer = createMailer({ url, from: 'Videogen <no-reply@example.com>' });
  await sendDueMails({ db, box, mailer, service: mailSignatureOf(defaultBrand, serviceUrl), log });
  return received.filter(({ to }) => to === email);
}
