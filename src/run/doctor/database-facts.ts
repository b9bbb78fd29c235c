import { many, one } from '../../platform/database/declare-statements.ts';

export type DatabaseFacts = {
  readonly versionNumber: number;
  readonly version: string;
  readonly user: string;
  readonly database: string;
  /** Undefined without TLS. */
  readonly tls: string | undefined;
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
  readonly maxConnections: number;
  readonly usedConnections: number;
  /** The limits of user and database; undefined for none. */
  readonly userConnections: number | undefined;
  readonly databaseConnections: number | undefined;
  /** Unix milliseconds of the server's clock. */
  readonly now: number;
  readonly mayCreate: boolean;
  readonly hasMigrations: boolean;
};

export const readDatabaseFacts = one<DatabaseFacts>({
  name: 'read-database-facts',
  text: `
select
  current_setting('server_version_num')::int as "versionNumber",
  current_setting('server_version') as version,
  current_user as user,
  current_database() as database,
  (select version from pg_stat_ssl where pid = pg_backend_pid()) as tls,
  pg_is_in_recovery() as "isStandby",
  current_setting('transaction_read_only')::boolean as "isReadOnly",
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "maxConnections",
  (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as "usedConnections",
  (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user) as "userConnections",
  (select nullif(datconnlimit, -1) from pg_database where datname = current_database()) as "databaseConnections",
  (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
  coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
  to_regclass('kysely_migration') is not null as "hasMigrations"`,
});

/** Lists our tables with the rights that this user lacks. Ours have the owner of the table of migrations. */
export const listMissingTableRights = many<{ readonly name: string; readonly missing: string; readonly owns: boolean }>(
  {
    name: 'list-missing-rights',
    text: `
select c.relname as name, pg_has_role(c.relowner, 'usage') as owns,
  concat_ws(', ',
    case when not has_table_privilege(c.oid, 'select') then 'SELECT' end,
    case when not has_table_privilege(c.oid, 'insert') then 'INSERT' end,
    case when not has_table_privilege(c.oid, 'update') then 'UPDATE' end,
    case when not has_table_privilege(c.oid, 'delete') then 'DELETE' end) as missing
from pg_class c join pg_class migrations on migrations.oid = to_regclass('kysely_migration')
where c.relkind = 'r' and c.relnamespace = migrations.relnamespace and c.relowner = migrations.relowner
  and c.relname not like 'kysely_%'
order by 1`,
  },
);

/** Samples current sealed secrets, the newest first. */
export const sampleSealedCallbackSecrets = many<{ readonly accountId: string; readonly sealed: string }>({
  name: 'list-sealed-secrets',
  text: `
select account_id as "accountId", sealed from callback_secrets where expires_at is null order by id desc limit 20`,
});
