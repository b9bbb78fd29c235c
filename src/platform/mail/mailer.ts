import pTimeout from 'p-timeout';
import type { MailText } from './mail-texts.ts';

export type SmtpSettings = {
  /** `smtp://` upgrades to TLS if the server offers it, `smtps://` begins with TLS. */
  readonly url: string;
  /** The sender: an address, or a name with an address. */
  readonly from: string;
};

/** Sends a mail. Rejects with `MailRefusedError` if the server will never accept it, with another error if a retry may help. */
export type Mailer = (recipient: string, mail: MailText) => Promise<void>;

export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}

/** A server that is silent for this time has failed the attempt. */
const silenceMs = 10_000;
/** Shorter than the first pause between attempts. */
const attemptMs = 45_000;

/** Creates the mailer of the installation's SMTP server. Each mail has a connection of its own. */
export function createMailer(settings: SmtpSettings, { silentMs = silenceMs } = {}): Mailer {
  return async (recipient, { subject, text }) => {
    const transport = await openTransport(settings, silentMs);
    const mail = {
      from: settings.from,
      // An object is always one recipient; a text would be parsed as a list.
      to: { name: '', address: recipient },
      subject,
      text,
      headers: { 'Auto-Submitted': 'auto-generated' },
    };
    await pTimeout(transport.sendMail(mail), { milliseconds: attemptMs }).catch((error: unknown) => {
      throw isFinal(error) ? new MailRefusedError('the mail server refused the mail', { cause: error }) : error;
    });
  };
}

/** Connects and authenticates, and sends nothing; rejects if that fails. */
export async function verifyMailServer(settings: SmtpSettings, silentMs = silenceMs): Promise<void> {
  const transport = await openTransport(settings, silentMs);
  await transport.verify();
}

/** Creates the transport. The library is loaded at the first use, so that a process that sends no mail does not load it. */
async function openTransport({ url }: SmtpSettings, silentMs: number) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';
  const auth = username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    ...(auth !== undefined && { auth }),
    // A password never travels unencrypted, except on this machine.
    requireTLS: !isSecure && auth !== undefined && !isLoopback(host),
    connectionTimeout: silentMs,
    greetingTimeout: silentMs,
    socketTimeout: silentMs,
    dnsTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function isLoopback(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1'].includes(host);
}

/** True if the server refused this recipient or this text permanently (5xx). A refused password is an error of the settings. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error) || !('responseCode' in error) || !('code' in error)) return false;
  return Number(error.responseCode) >= 500 && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE');
}
