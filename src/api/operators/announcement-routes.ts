import { z } from 'zod';
import {
  setAnnouncementAs,
  announcementLevels,
  maxAnnouncementLength,
  maxAnnouncementLinkLength,
  readAnnouncement,
  removeAnnouncementAs,
  type Announcement,
} from '../../accounts/operators/announcement.ts';
import type { Database } from '../../platform/database/database.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithClock, WithDb } from '../core/endpoint-spec.ts';
import { invalidRequest } from '../core/http-error.ts';
import {
  notFutureTimeMessage,
  maxUnixMs,
  oneOf,
  orNull,
  oneLineTextField,
  wholeNumberField,
  unixMsSchema,
} from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

export const announcementSchema = z
  .strictObject({
    text: z.string(),
    level: z.enum(announcementLevels),
    link: z.string().nullable(),
    endTime: unixMsSchema.nullable().meta({ description: 'Null until it is removed.' }),
  })
  .meta({ id: 'Announcement' });

export function presentAnnouncement({ endsAt, ...announcement }: Announcement) {
  return pickRowFieldsBySchema(announcementSchema, { ...announcement, endTime: endsAt });
}

const data = z.strictObject({ announcement: orNull(announcementSchema) });

async function current(db: Database) {
  const announcement = await readAnnouncement(db);
  return { announcement: announcement === undefined ? null : presentAnnouncement(announcement) };
}

const show = defineEndpoint({
  operationId: 'adminGetAnnouncement',
  route: 'GET /api/admin/v1/announcement',
  summary: 'Get the announcement',
  data,
  handler: (_call, { db }) => current(db),
});

const linkError = `must be an http or https URL of at most ${maxAnnouncementLinkLength} characters`;

const set = defineEndpoint({
  operationId: 'adminSetAnnouncement',
  route: 'POST /api/admin/v1/announcement',
  summary: 'Publish an announcement in the console',
  description: 'Replaces the announcement before it. Open pages of the console show it within a minute.',
  body: z.strictObject({
    text: oneLineTextField(maxAnnouncementLength),
    level: oneOf(announcementLevels).default('info'),
    link: z
      .url({ protocol: /^https?$/, error: linkError })
      .max(maxAnnouncementLinkLength, { error: linkError })
      .optional(),
    endTime: wholeNumberField(0, maxUnixMs)
      .optional()
      .meta({ description: 'Unix milliseconds; by default, it stays.' }),
  }),
  data,
  handler: async ({ actor, input: { text, level, link, endTime: endsAt } }, { db, now }: WithDb & WithClock) => {
    if (endsAt !== undefined && endsAt <= now())
      throw invalidRequest([{ path: 'endTime', message: notFutureTimeMessage }]);
    await setAnnouncementAs(db, actor, { text, level, link, endsAt });
    return current(db);
  },
});

const remove = defineEndpoint({
  operationId: 'adminRemoveAnnouncement',
  route: 'POST /api/admin/v1/announcement/remove',
  summary: 'Remove the announcement',
  description: 'Idempotent.',
  body: z.strictObject({}),
  data,
  handler: async ({ actor }, { db }) => {
    await removeAnnouncementAs(db, actor);
    return current(db);
  },
});

export const operatorAnnouncementEndpoints = [show, set, remove];
