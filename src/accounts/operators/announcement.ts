import type { Actor } from './actors-and-actions.ts';
import { changeWithAudit } from './audit-log.ts';
import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows } from '../../platform/database/declare-statements.ts';

/** Operators announce one text at a time to everyone who is signed in to the console. */
export type Announcement = {
  readonly text: string;
  readonly level: AnnouncementLevel;
  readonly link: string | undefined;
  /** Unix milliseconds; undefined until it is removed. */
  readonly endsAt: number | undefined;
};

export const announcementLevels = ['info', 'warning'] as const;
export type AnnouncementLevel = (typeof announcementLevels)[number];

export const [maxAnnouncementLength, maxAnnouncementLinkLength] = [300, 1000];

/** Undefined without one, and after its end. */
export const readAnnouncement = maybeOne<Announcement>({
  name: 'read-announcement',
  text: `
select text, level, link, ends_at as "endsAt" from announcements where ends_at is null or ends_at > now()`,
});

const write = maybeOne<{ text: string }, [announcement: Announcement]>({
  name: 'set-announcement',
  text: `
insert into announcements (text, level, link, ends_at) values ($1, $2, $3, to_timestamp($4::float8 / 1000))
on conflict (only_row) do update set text = $1, level = $2, link = $3, ends_at = excluded.ends_at
where (announcements.text, announcements.level, announcements.link, announcements.ends_at)
  is distinct from ($1, $2, $3, excluded.ends_at)
returning text`,
  values: ({ text, level, link, endsAt }) => [text, level, link, endsAt],
});

const remove = noRows({ name: 'remove-announcement', text: 'delete from announcements' });

export function setAnnouncementAs(db: Database, actor: Actor, announcement: Announcement): Promise<void> {
  return changeWithAudit(db, actor, async (transaction) => {
    const isNew = (await write(transaction, announcement)) !== undefined;
    const { text, level, link, endsAt: endTime } = announcement;
    const details = { text, level, link, endTime };
    return { answer: undefined, ...(isNew && { done: { action: 'announcement.set', details } }) };
  });
}

export function removeAnnouncementAs(db: Database, actor: Actor): Promise<void> {
  return changeWithAudit(db, actor, async (transaction) => {
    const shown = await readAnnouncement(transaction);
    await remove(transaction);
    const details = { text: shown?.text };
    return { answer: undefined, ...(shown !== undefined && { done: { action: 'announcement.remove', details } }) };
  });
}
