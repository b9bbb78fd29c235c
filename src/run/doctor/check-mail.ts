import { type SmtpSettings, verifyMailServer } from '../../platform/mail/mailer.ts';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { failure, type Finding, ok } from './checks-and-findings.ts';

const name = 'mail server';

/** Shorter than the time limit of a check. */
const silentMs = 8_000;

export async function checkMailServer(smtp: SmtpSettings): Promise<Finding> {
  const { hostname, username } = new URL(smtp.url);
  try {
    await verifyMailServer(smtp, silentMs);
  } catch (error) {
    return failure(
      name,
      `${hostname}: ${messageOf(error)}`,
      'Check SMTP_URL: host, port, user and password. Until then, send links by hand: videogen api GET /api/admin/v1/sign-ups',
    );
  }
  return ok(
    name,
    username === '' ? `${hostname} responds` : `${hostname} accepts the user ${decodeURIComponent(username)}`,
  );
}
