import { z } from 'zod';
import type { MaybeMailedLink } from '../../accounts/sign-in/queue-link-mail.ts';
import { urlOfLink } from '../../accounts/sign-in/one-time-links.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import type { MailQueue } from '../../platform/mail/mail-queue.ts';

export const newOneTimeLinkSchema = z
  .strictObject({
    linkId: z.string(),
    url: z.string().meta({ description: 'It is not shown again.' }),
    isMailed: z
      .boolean()
      .meta({ description: 'The link is also sent by e-mail. If false, send it to the person yourself.' }),
    expireTime: unixMsSchema,
  })
  .meta({ id: 'NewLink' });

/** `mails`: undefined without a mail server: people send links by hand. */
export type MailDeps = { readonly mails: MailQueue | undefined };

export function presentNewOneTimeLink(publicUrl: string, link: MaybeMailedLink) {
  const { linkId, isMailed, expiresAt: expireTime } = link;
  return { linkId, url: urlOfLink(publicUrl, link), isMailed, expireTime };
}
