import { type LinkWithToken, pathOfLink } from './one-time-links.ts';
import type { MailQueue } from '../../platform/mail/mail-queue.ts';
import type { StatementRunner } from '../../platform/database/declare-statements.ts';

export type MaybeMailedLink = LinkWithToken & {
  /** False if the link has to be sent by hand. */
  readonly isMailed: boolean;
};

type Addressee = { readonly email: string; readonly accountId?: string | undefined };

/** Queues the e-mail with a link in the transaction that creates it. Without a queue the installation has no mail server. */
export async function queueLinkMail(
  db: StatementRunner,
  mails: MailQueue | undefined,
  link: LinkWithToken,
  { email: recipient, accountId }: Addressee,
): Promise<MaybeMailedLink> {
  const { linkId, purpose, expiresAt } = link;
  if (mails === undefined || purpose === 'setup') return { ...link, isMailed: false };
  const path = pathOfLink(link);
  const isMailed = await mails.add(db, { kind: purpose, recipient, linkId, path, expiresAt, accountId });
  return { ...link, isMailed };
}
