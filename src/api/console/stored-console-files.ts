import type { Database } from '../../platform/database/database.ts';
import { maybeOne, noRows } from '../../platform/database/declare-statements.ts';

// The names of the console's files contain a hash of the content, so a file never changes.

export type ConsoleAsset = { readonly name: string; readonly content: Buffer };

const publish = noRows<[names: readonly string[], contents: readonly Buffer[]]>({
  name: 'publish-console-assets',
  text: `
insert into console_assets (name, content) select * from unnest($1::text[], $2::bytea[])
on conflict (name) do update set replaced_at = null where console_assets.replaced_at is not null`,
});

const replaceOthers = noRows<[names: readonly string[]]>({
  name: 'replace-console-assets',
  text: `update console_assets set replaced_at = now() where replaced_at is null and name <> all ($1)`,
});

/** Pages of an earlier release may stay open in tabs, and load their files, for a week. */
const deleteReplaced = noRows<[]>({
  name: 'delete-console-assets',
  text: `delete from console_assets where replaced_at < now() - interval '7 days'`,
});

/** Publishes the files of the current release, and deletes those that were replaced a week ago. */
export function replaceStoredConsoleAssets(db: Database, assets: readonly ConsoleAsset[]): Promise<void> {
  // Concurrent processes lock the rows in the same order.
  const sorted = assets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = sorted.map(({ name }) => name);
  return db.transaction(async (run) => {
    await publish(
      { run },
      names,
      sorted.map(({ content }) => content),
    );
    await replaceOthers({ run }, names);
    await deleteReplaced({ run });
  });
}

export const findConsoleAsset = maybeOne<{ readonly content: Buffer }, [name: string]>({
  name: 'find-console-asset',
  text: `select content from console_assets where name = $1`,
});
