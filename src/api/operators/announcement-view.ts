import { z } from 'zod';
import { type Announcement, announcementLevels } from '../../accounts/operators/announcement.ts';
import { unixMs } from '../core/request-fields.ts';
import { view } from '../core/view.ts';

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
