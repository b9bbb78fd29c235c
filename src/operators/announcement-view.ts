import { z } from 'zod';
import { type Announcement, announcementLevels } from './announcement.ts';
import { unixMs } from '../http/fields.ts';
import { view } from '../http/view.ts';

export const announcementSchema = z
  .strictObject({
    text: z.string(),
    level: z.enum(announcementLevels),
    link: z.string().nullable(),
    endTime: unixMs.nullable().meta({ description: 'Null until it is removed.' }),
  })
  .meta({ id: 'Announcement' });

export function presentAnnouncement({ endsAt, ...announcement }: Announcement) {
  return view(announcementSchema, { ...announcement, endTime: endsAt });
}
