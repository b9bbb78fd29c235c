import { type Kysely, sql } from 'kysely';
import { kindByStoredName } from '../../../media/references/upload-limits-and-addresses.ts';
import { literalListSql } from '../../../platform/database/sql-fragments-and-parameters.ts';

/** More formats of uploaded files, and the size of images, which is checked before the charge; null for files of an earlier release. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(`
alter table uploads
  drop constraint uploads_file_name_check,
  add constraint uploads_file_name_check check (file_name in ${literalListSql(Object.keys(kindByStoredName))}),
  add column width_px integer check (width_px > 0),
  add column height_px integer check (height_px > 0),
  add constraint uploads_size_check check ((width_px is null) = (height_px is null))`)
    .execute(db);
}
