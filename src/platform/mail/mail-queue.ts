import { v7 as uuidv7 } from 'uuid';
import type { MailKind } from './mail-texts.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { Database } from '../database/database.ts';
import { many, maybeOne, noRows } from '../database/declare-statements.ts';

// Mails are rows, so that neither a request nor its transaction waits for the mail server, and a crash loses none. The API processes
// send them (send-mails.ts).

/** HKDF's name for the key that encrypts the links of waiting mails. */
export const mailKeyPurpose = 'videogen/mail/v1';

/** A mail that carries a link. Times are Unix milliseconds. */
export type NewMail = {
  readonly kind: MailKind;
  readonly recipient: string;
  readonly linkId: string;
  /** The path of the link contains its secret. */
  readonly path: string;
  readonly expiresAt: number;
  /** The account whose owner causes the mail. */
  readonly accountId?: string | undefined;
};

export type MailQueue = ReturnType<typeof createMailQueue>;

const maxWaiting = 1_000;
/** Both limits are hourly. They prevent customers from flooding a mailbox, or advertising in the name of the installation. */
const maxOfRecipient = 5;
const maxOfAccount = 30;

const insertMail = maybeOne<{ mailId: string }, [mailId: string, sealed: string, mail: NewMail]>({
  name: 'queue-mail',
  text: `
insert into mails (id, kind, recipient, link_id, account_id, sealed_path, expires_at)
select $1, $2, $3, $4, $5, $6, to_timestamp($7::float8 / 1000)
where (select count(*) from mails where state = 'waiting') < ${maxWaiting}
  and (select count(*) from mails where recipient = $3 and created_at > now() - interval '1 hour') < ${maxOfRecipient}
  and (select count(*) from mails where account_id = $5 and created_at > now() - interval '1 hour') < ${maxOfAccount}
returning id as "mailId"`,
  values: (mailId, sealed, { kind, recipient, linkId, accountId, expiresAt }) => [
    mailId,
    kind,
    recipient,
    linkId,
    accountId,
    sealed,
    expiresAt,
  ],
});

export function createMailQueue(box: SecretBox) {
  return {
    /** Call it in the transaction that creates the link. Returns false if too many mails wait, or went to this recipient. */
    add: async (db: Pick<Database, 'run'>, mail: NewMail): Promise<boolean> => {
      const mailId = uuidv7();
      return (await insertMail(db, mailId, box.seal(mail.path, mailId), mail)) !== undefined;
    },
  };
}

export type DueMail = {
  readonly mailId: string;
  readonly kind: MailKind;
  readonly recipient: string;
  readonly sealedPath: string;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  readonly linkId: string;
  readonly expiresAt: number;
};

/** The pauses between attempts. Servers that defer mail of unknown senders accept it after some minutes. */
export const mailPausesSeconds = [60, 300, 900, 3600, 4 * 3600];
export const maxMailAttempts = mailPausesSeconds.length + 1;

/**
 * Takes mails that are due. Each is due again after a pause that is longer than an attempt, so that another process continues if this one
 * dies.
 */
export const takeDueMails = many<DueMail, [limit: number]>({
  name: 'take-due-mails',
  text: `
update mails set attempts = attempts + 1,
  due_at = now() + coalesce((array[${mailPausesSeconds.join()}])[attempts + 1], 60) * interval '1 second'
where id = any(array(
  select id from mails where state = 'waiting' and due_at <= now() order by due_at limit $1 for update skip locked))
returning id as "mailId", kind, recipient, sealed_path as "sealedPath", attempts, link_id as "linkId",
  expires_at as "expiresAt"`,
});

/** The secret of the link is deleted with the end of its mail. */
export const endMail = noRows<[mailId: string, state: 'sent' | 'failed']>({
  name: 'end-mail',
  text: `update mails set state = $2, sealed_path = null where id = $1 and state = 'waiting'`,
});
