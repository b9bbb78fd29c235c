import { z } from 'zod';
import { addressOfLink, type NewLink } from './one-time-links.ts';
import { unixMs } from '../http/fields.ts';

export const newLinkSchema = z
  .strictObject({
    linkId: z.string(),
    url: z.string().meta({ description: 'Send it to the person. It is not shown again.' }),
    expireTime: unixMs,
  })
  .meta({ id: 'NewLink' });

export function presentNewLink(publicUrl: string, link: NewLink) {
  return { linkId: link.linkId, url: addressOfLink(publicUrl, link), expireTime: link.expiresAt };
}
