import type { Config } from '../config/config.ts';
import { unservedModels, type WorkerReport } from '../../catalogue/models/models-served-by-workers.ts';
import { errorCode, messageOf } from '../../platform/setup-errors-and-error-messages.ts';
import { unopenedSecretsProblem, countUnopenedSecrets } from '../main/report-changed-secret.ts';
import { clockDifferenceWarnMs } from '../../platform/database/database-clock.ts';
import { createDatabase, type Database } from '../../platform/database/database.ts';
import { type DatabaseFacts, listMissingTableRights, readDatabaseFacts } from './database-facts.ts';
import { listMigrationsOfRelease } from '../schema/migrator.ts';
import { readSchemaState } from '../schema/schema-state.ts';
import { listLiveWorkerReports } from '../../catalogue/models/worker-report-rows.ts';
import { listActiveOperatorPriceNames } from '../../credits/prices/operator-prices.ts';
import { paymentHealthFinding } from './check-payment-health.ts';
import { isStripeTestKey } from '../../credits/payments/stripe/stripe-provider.ts';
import { readPaymentHealth } from '../../credits/payments/payment-health.ts';
import { unusedPricesFinding } from './check-unused-prices.ts';
import { invalidResultsFinding } from './check-models-with-unusable-videos.ts';
import { listInvalidResults } from '../../tasks/list/task-counts-and-results-for-operators.ts';
import { failure, type Finding, ok, unchecked, warning } from './checks-and-findings.ts';

const leastVersion = 150_000;
/** Deadlines use the database's clock, links and signatures this machine's. */
const errorSkewMs = 60_000;

type DatabaseToCheck = Pick<
  Config,
  'databasePoolSize' | 'secret' | 'secretPrevious' | 'catalogue' | 'catalogueFile' | 'stripeSecretKey'
>;

export async function checkDatabase(url: string, config: DatabaseToCheck): Promise<readonly Finding[]> {
  const db = createDatabase({ url, poolSize: 1 });
  try {
    const { facts, skewMs } = await readFacts(db);
    return [
      ...serverFindings(facts),
      databaseTlsFinding(facts, url),
      connectionsFinding(facts, config.databasePoolSize),
      clockFinding(skewMs),
      ...(await schemaFindings(db, facts, config)),
    ];
  } catch (error) {
    const { message, remedy } = explainDatabaseError(error);
    return [failure('database', message, remedy)];
  } finally {
    await db.close();
  }
}

/** Reads twice: the first statement opens the connection, the second measures the clock. */
async function readFacts(db: Database): Promise<{ readonly facts: DatabaseFacts; readonly skewMs: number }> {
  await readDatabaseFacts(db);
  const before = Date.now();
  const facts = await readDatabaseFacts(db);
  return { facts, skewMs: facts.now - (before + Date.now()) / 2 };
}

export function serverFindings({
  versionNumber,
  version,
  isStandby,
  isReadOnly,
  user,
  database,
}: DatabaseFacts): Finding[] {
  const what = `PostgreSQL ${version}, database ${database} as ${user}`;
  if (versionNumber < leastVersion)
    return [failure('database', `${what}: older than 15`, 'Upgrade PostgreSQL to 15 or newer.')];
  if (isStandby) return [failure('database', `${what}: a standby`, 'Name the primary in DATABASE_URL.')];
  if (isReadOnly)
    return [
      failure('database', `${what}: read only`, 'Reset default_transaction_read_only of this user and database.'),
    ];
  return [ok('database', what)];
}

export function databaseTlsFinding({ tls }: Pick<DatabaseFacts, 'tls'>, url: string): Finding {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  const isLocal = ['', 'localhost', '127.0.0.1', '[::1]'].includes(host) || host.startsWith('/');
  if (tls === undefined) {
    if (isLocal) return ok('database tls', 'none; the database is on this machine');
    return warning(
      'database tls',
      'none: passwords and prompts travel unencrypted',
      'Add ?sslmode=verify-full to DATABASE_URL, and sslrootcert where the authority is your own.',
    );
  }
  const mode = searchParams.get('sslmode');
  const isLax = searchParams.get('uselibpqcompat') === 'true' && (mode === 'prefer' || mode === 'require');
  if (mode === 'no-verify' || (isLax && !searchParams.has('sslrootcert')))
    return warning('database tls', `${tls}, but the server's certificate is not checked`, 'Use sslmode=verify-full.');
  return ok('database tls', tls);
}

export function connectionsFinding(facts: DatabaseFacts, poolSize: number): Finding {
  const { userConnections, databaseConnections, maxConnections, usedConnections } = facts;
  const most = Math.min(maxConnections, userConnections ?? Infinity, databaseConnections ?? Infinity);
  const free = most - usedConnections;
  const shown = `${usedConnections} of ${most} connections are in use; a process opens up to ${poolSize}`;
  if (free >= poolSize) return ok('connections', shown);
  return warning(
    'connections',
    `${shown}, so one more process may find none`,
    'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.',
  );
}

export function clockFinding(skewMs: number): Finding {
  const apart = Math.abs(skewMs);
  const shown = `${(apart / 1000).toFixed(3)} s ${skewMs < 0 ? 'ahead of' : 'behind'} that of the database`;
  const remedy = 'Run a time service (chrony, systemd-timesyncd) on this machine and on that of the database.';
  if (apart >= errorSkewMs) return failure('clock', shown, remedy);
  return apart >= clockDifferenceWarnMs ? warning('clock', shown, remedy) : ok('clock', shown);
}

const migrate = 'Run "videogen migrate" with this release.';

async function schemaFindings(db: Database, facts: DatabaseFacts, config: DatabaseToCheck): Promise<Finding[]> {
  const { catalogue, stripeSecretKey } = config;
  const provider = stripeSecretKey === undefined ? undefined : { isTest: isStripeTestKey(stripeSecretKey) };
  const required = await listMigrationsOfRelease();
  if (!facts.hasMigrations)
    return [
      failure('schema', 'the database is empty, or this user does not see what is in it', migrate),
      createFinding(facts, true),
      unchecked('stored secrets', 'not checked: there is no schema'),
    ];
  const rights = await listMissingTableRights(db);
  const isReadable = rights.every(({ missing }) => !missing.includes('SELECT'));
  const findings = [
    rightsFinding(rights),
    createFinding(
      facts,
      rights.every(({ owns }) => owns),
    ),
  ];
  if (!isReadable) return [...findings, unchecked('schema', 'not checked: this user may not read it')];
  const state = await readSchemaState(db, required).catch(() => undefined);
  if (state === undefined)
    return [...findings, unchecked('schema', 'not checked: this user may not read kysely_migration')];
  const { missing, newer } = state;
  const schema =
    missing.length > 0
      ? failure('schema', `older than this release, which needs ${missing.join(', ')}`, migrate)
      : newer.length > 0
        ? warning(
            'schema',
            `newer than this release: ${newer.join(', ')}`,
            'Upgrade every process to the newer release, unless you went back to this one.',
          )
        : ok('schema', `up to date (${required.at(-1)})`);
  return [
    ...findings,
    schema,
    ...(missing.length > 0
      ? [unchecked('stored secrets', 'not checked: the schema is older')]
      : [
          await secretFinding(db, config),
          modelsFinding(config, await listLiveWorkerReports(db)),
          unusedPricesFinding(catalogue.models, await listActiveOperatorPriceNames(db)),
          invalidResultsFinding(await listInvalidResults(db)),
          paymentHealthFinding({ provider, packages: catalogue.packages.size }, await readPaymentHealth(db)),
        ]),
  ];
}

function rightsFinding(rights: Awaited<ReturnType<typeof listMissingTableRights>>): Finding {
  const lacking = rights.filter(({ missing }) => missing !== '');
  if (lacking.length === 0) return ok('rights', `reads and writes ${rights.length} tables`);
  const shown = lacking.slice(0, 3).map(({ name, missing }) => `${missing} on ${name}`);
  const more = lacking.length > 3 ? `, and something on ${lacking.length - 3} more tables` : '';
  return failure(
    'rights',
    `the user of DATABASE_URL lacks ${shown.join(', ')}${more}`,
    'Use the owner of the tables, or GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA … TO …;',
  );
}

function modelsFinding({ catalogue, catalogueFile }: DatabaseToCheck, reports: readonly WorkerReport[]): Finding {
  if (reports.length === 0)
    return unchecked('models', 'no worker has reported what it can generate; tasks wait for one');
  const others = [...new Set(reports.flatMap(({ models }) => models))].filter((name) => !catalogue.models.has(name));
  if (catalogueFile === undefined && others.length > 0)
    return warning(
      'models',
      `the running service has another catalogue than this shell: it sells ${others.slice(0, 5).join(', ')}`,
      'Set VIDEOGEN_MODELS here as the service has it, then run doctor again.',
    );
  const names = unservedModels(catalogue, reports);
  const [refusal] = reports.flatMap((report) => report.refusal ?? []);
  if (names.length === 0 && refusal === undefined) return ok('models', 'live workers can generate all of them');
  const remedy = 'Set the secret on every worker and restart them, or correct the catalogue.';
  const why =
    refusal === undefined ? 'live workers have another catalogue' : `a worker refuses the catalogue: ${refusal}`;
  if (names.length === 0) return warning('models', why, remedy);
  return failure('models', `not sold, because no live worker can generate them: ${names.join(', ')}; ${why}`, remedy);
}

/** `videogen migrate` needs these rights, and may run as a user of its own. */
function createFinding({ mayCreate }: DatabaseFacts, ownsAll: boolean): Finding {
  if (mayCreate && ownsAll) return ok('rights to migrate', 'creates tables and owns those that are there');
  const lack = mayCreate ? 'this user does not own all tables' : 'this user may not create tables';
  return warning('rights to migrate', lack, 'Run "videogen migrate" as the owner of database and tables.');
}

async function secretFinding(db: Database, { secret, secretPrevious = [] }: DatabaseToCheck): Promise<Finding> {
  if (secret === undefined) return unchecked('stored secrets', 'not checked: there is no VIDEOGEN_SECRET yet');
  const { tried, unopened, older } = await countUnopenedSecrets(db, { secret, secretPrevious });
  const problem = unopenedSecretsProblem({ tried, unopened });
  if (problem !== undefined) return failure('stored secrets', problem.message, problem.remedy);
  const by = older === 0 ? '' : `, ${older} by VIDEOGEN_SECRET_PREVIOUS: "videogen secret reencrypt" ends that`;
  return ok('stored secrets', `VIDEOGEN_SECRET opens what is stored (${tried} tried${by})`);
}

const reach = 'Check host and port in DATABASE_URL, that PostgreSQL runs there, and that no firewall is between.';
const trust = 'Name the certificate of its authority: DATABASE_URL=…?sslmode=verify-full&sslrootcert=/path/ca.crt';

/** Keys are codes of PostgreSQL, the system and TLS. */
const remedies: Readonly<Record<string, string>> = {
  '28P01': 'Correct user and password in DATABASE_URL.',
  '28000':
    'Correct the user in DATABASE_URL, or allow it in pg_hba.conf, or set a client certificate (sslcert, sslkey).',
  '3D000': 'Create the database, with this user as its owner.',
  '42501': 'Give the user the right to connect: GRANT CONNECT ON DATABASE … TO …;',
  '53300': 'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.',
  '57P03': 'Wait until PostgreSQL has started.',
  ENOENT: 'Correct sslrootcert, sslcert and sslkey in DATABASE_URL: they are paths of files on this machine.',
  EACCES: 'Let this account read the files of sslrootcert, sslcert and sslkey.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use in DATABASE_URL a host name that stands in the certificate of the server.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the server.',
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  UNABLE_TO_GET_ISSUER_CERT: trust,
  CERT_SIGNATURE_FAILURE: trust,
};

const byWords: readonly (readonly [RegExp, string])[] = [
  [/^SASL:.*password/, 'Add the password of the user to DATABASE_URL.'],
  [/does not support SSL/, 'Turn TLS on in PostgreSQL (ssl = on), or take sslmode out of DATABASE_URL.'],
  [
    /alert|certificate required|handshake/i,
    'The server requires a client certificate: set sslcert and sslkey in DATABASE_URL.',
  ],
];

/**
 * The database was not reached or rejected the connection. The statement is not the problem. Codes that begin with E are those of the
 * system, such as EPIPE, which has the length of PostgreSQL's.
 */
export function isConnectionError(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = errorCode(cause) ?? '';
  if (code === '') return /timeout|terminated|connection|SSL|^SASL:/i.test(messageOf(cause));
  return remedies[code] !== undefined || !/^[0-9A-Z]{5}$/.test(code) || /^(08|53|57|E)/.test(code);
}

export function explainDatabaseError(error: unknown): { readonly message: string; readonly remedy: string } {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const message = messageOf(error);
  const code = errorCode(cause) ?? '';
  const known = remedies[code] ?? byWords.find(([words]) => words.test(messageOf(cause)))?.[1];
  return { message: message.includes(code) || code === '' ? message : `${message} (${code})`, remedy: known ?? reach };
}
