import { type MailSignature, composeMail } from './mail-texts.ts';
import { type DueMail, endMail, maxMailAttempts, takeDueMails } from './mail-queue.ts';
import { type Mailer, MailRefusedError } from './mailer.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { Database } from '../database/database.ts';
import { describeErrorForLog, errorCode } from '../setup-errors-and-error-messages.ts';
import type { Log } from '../log/log.ts';
import { startRepeating } from '../timing/repeat.ts';

export type SendMailsDeps = {
  readonly db: Database;
  readonly box: SecretBox;
  readonly mailer: Mailer;
  readonly service: MailSignature;
  readonly log: Log;
};

const pauseMs = 2_000;
/** All mails that are taken at a time are attempted immediately: those that waited here would become due for another process. */
const maxConcurrent = 4;

/** Sends mails of the queue until it is closed. A mail whose attempt is cut off by the end of the process is sent again later. */
export function sendMailsUntilClosed(sender: SendMailsDeps): { close(): Promise<void> } {
  return startRepeating(pauseMs, (signal) => sendDueMails(sender, signal));
}

/** Attempts the mails that are due; never rejects. */
export async function sendDueMails(sender: SendMailsDeps, signal = new AbortController().signal): Promise<void> {
  try {
    for (let isMore = true; isMore && !signal.aborted;) {
      const due = await takeDueMails(sender.db, maxConcurrent);
      await Promise.all(due.map((mail) => sendMail(sender, mail)));
      isMore = due.length === maxConcurrent;
    }
  } catch (error) {
    sender.log.warn({ error: describeErrorForLog(error) }, 'mail queue unavailable');
  }
}

async function sendMail({ db, box, mailer, service, log }: SendMailsDeps, mail: DueMail): Promise<void> {
  const { mailId, kind, recipient, sealedPath, attempts, linkId, expiresAt } = mail;
  const fields = { mailId, linkId, kind, attempts };
  try {
    if (Date.now() >= expiresAt) throw new MailRefusedError('the link has expired');
    const url = service.publicUrl + box.open(sealedPath, mailId);
    await mailer(recipient, composeMail(kind, service, url, expiresAt));
  } catch (error) {
    const isOver = error instanceof MailRefusedError || attempts >= maxMailAttempts;
    if (isOver) await endMail(db, mailId, 'failed');
    log.warn({ ...fields, ...reasonOf(error) }, isOver ? 'mail not sent' : 'mail attempt failed; it is retried');
    return;
  }
  await endMail(db, mailId, 'sent');
  log.info(fields, 'mail sent');
}

/** The server's message often contains the recipient, who may be erased while logs stay. */
function reasonOf(error: unknown) {
  const cause = error instanceof MailRefusedError ? (error.cause ?? error) : error;
  const name = cause instanceof Error ? cause.name : typeof cause;
  const status = cause instanceof Error && 'responseCode' in cause ? cause.responseCode : undefined;
  return { reason: errorCode(cause) ?? name, ...(status !== undefined && { status }) };
}
