import { z } from 'zod';
import { type Announcement, announcementLevels } from './announcement.ts';
import { unixMs } from '../http/fields.ts';
import { view } from '../http/view.ts';

// Without a name in the documentation, because the types of clients lose the null of a named schema.
export const announcementSchema = z.strictObject({
  text: z.string(),
  level: z.enum(announcementLevels),
  link: z.string().nullable(),
  endTime: unixMs.nullable().meta({ description: 'Null until it is removed.' }),
});

export function presentAnnouncement({ endsAt, ...announcement }: Announcement) {
  return view(announcementSchema, { ...announcement, endTime: endsAt });
}
