import pTimeout from 'p-timeout';
import pg from 'pg';
import { errorCode, messageOf } from '../domain/errors.ts';
import { createConnectionQueue, defaultQueueLimits, type QueueLimits } from './connection-queue.ts';

/**
 * A statement: its name is unique in the program, its text never varies. It is prepared once on each connection, unless it is
 * `plannedAnew` each time: then one text serves filters that are given or not, because a filter that is null costs nothing.
 */
export type Statement = { readonly name: string; readonly text: string; readonly plannedAnew?: boolean };

/** Runs one statement and answers its rows. Throws `DatabaseUnavailable` when no answer can be had, `DatabaseBusy` among them. */
type Run = <Row extends pg.QueryResultRow>(statement: Statement, values?: readonly unknown[]) => Promise<Row[]>;

export type Database = {
  readonly run: Run;
  /** Runs the statements that `work` issues in one transaction, all or none, and answers what it does. `work` must not touch the network. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Runs a statement whose columns are named as the fields of `Row`; a field that is null in the database is undefined. */
export async function readRows<Row extends pg.QueryResultRow>(
  db: Pick<Database, 'run'>,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row[]> {
  const rows = await db.run<Row>(statement, values);
  const records: pg.QueryResultRow[] = rows;
  for (const record of records) {
    for (const field in record) if (record[field] === null) record[field] = undefined;
  }
  return rows;
}

/** As `readRows`, for a statement that answers one row or none. */
export async function readRow<Row extends pg.QueryResultRow>(
  db: Pick<Database, 'run'>,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row | undefined> {
  const [row] = await readRows<Row>(db, statement, values);
  return row;
}

/** The database cannot be reached, is starting, or is shutting down: try again later. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** True when a statement was on its way, and so may have been committed; false when there was not even a connection. */
  readonly wasSent: boolean;

  constructor(wasSent: boolean, cause: unknown, place?: string) {
    super(`database unavailable${place === undefined ? '' : ` at ${place}`}: ${messageOf(cause)}`, { cause });
    this.wasSent = wasSent;
  }
}

/** Every connection was in use for as long as a caller may wait, or too many callers waited: nothing was sent. */
export class DatabaseBusy extends DatabaseUnavailable {
  constructor() {
    super(false, new Error('every database connection is in use'));
  }
}

export type DatabaseOptions = {
  readonly url: string;
  /** Connections at most; 10 by default. */
  readonly poolSize?: number;
  /** Bounds on the callers that wait for a connection; `defaultQueueLimits` for what is left out. */
  readonly queue?: Partial<QueueLimits>;
  /** Called for an idle connection that broke; the pool replaces it by itself. */
  readonly onIdleError?: (error: Error) => void;
};

/** How the connections of a pool are used now. */
export type DatabaseUsage = {
  readonly limit: number;
  readonly idle: number;
  readonly busy: number;
  /** Callers without a connection. */
  readonly waiting: number;
};

export type DatabasePool = Database & { readonly usage: () => DatabaseUsage };

/** How long connecting may take, which on a busy machine is seconds, and how long one statement may run. */
const connectTimeoutMs = 10_000;
const statementTimeoutMs = 15_000;

/** A pool of connections to PostgreSQL. Nothing is connected until the first statement. */
export function createDatabase({ url, poolSize = 10, queue, onIdleError }: DatabaseOptions): DatabasePool {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + 1_000,
    application_name: 'videogen',
    types,
  });
  pool.on('error', (error) => onIdleError?.(error));
  const place = placeOf(url);
  const inTurn = createConnectionQueue(poolSize, { ...defaultQueueLimits, ...queue }, () => new DatabaseBusy());
  let callers = 0;
  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    callers += 1;
    return await inTurn(work).finally(() => (callers -= 1));
  };
  return {
    usage: () => ({
      limit: poolSize,
      idle: pool.idleCount,
      busy: pool.totalCount - pool.idleCount,
      waiting: Math.max(0, callers - poolSize),
    }),
    run: (statement, values) =>
      queued(() => onConnection({ pool, place }, (connection) => runOn(connection, statement, values))),
    transaction: (work) => queued(() => onConnection({ pool, place }, (connection) => inTransaction(connection, work))),
    close: () => pool.end(),
  };
}

/** The same database for callers who go on without an answer after this time. */
export function inTime(db: Database, limitMs: number): Database {
  const late = () => new DatabaseUnavailable(true, new Error(`no answer in ${limitMs} ms`));
  return {
    ...db,
    run: (statement, values) => {
      return pTimeout(db.run(statement, values), { milliseconds: limitMs, message: late() });
    },
  };
}

/** Host and port of the address, without the password in it. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'an address that is none';
  const { hostname, port, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${port === '' ? '5432' : port}`;
}

/** A connection that broke is dropped; one on which a statement merely failed goes back to the pool. */
async function onConnection<T>(
  { pool, place }: { readonly pool: pg.Pool; readonly place: string },
  work: (connection: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const connection = await connecting(pool).catch((error: unknown) => {
    throw isUnavailable(error) ? new DatabaseUnavailable(false, error, place) : error;
  });
  let isBroken = false;
  // A connection that breaks rejects its statement and then emits an error, which would end the process without a listener.
  const onBroken = () => {
    isBroken = true;
  };
  connection.on('error', onBroken);
  try {
    return await work(connection);
  } catch (error) {
    isBroken ||= isUnavailable(error);
    throw isUnavailable(error) ? new DatabaseUnavailable(true, error, place) : error;
  } finally {
    connection.off('error', onBroken);
    connection.release(isBroken);
  }
}

/** The pool throws, instead of rejecting, when a certificate that the address names cannot be read. */
async function connecting(pool: pg.Pool): Promise<pg.PoolClient> {
  return await pool.connect();
}

async function runOn<Row extends pg.QueryResultRow>(
  connection: pg.PoolClient,
  { name, text, plannedAnew }: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await connection.query<Row>({ ...(!plannedAnew && { name }), text, values: [...values] });
  return rows;
}

async function inTransaction<T>(connection: pg.PoolClient, work: (run: Run) => Promise<T>): Promise<T> {
  await connection.query('begin');
  try {
    const answer = await work((statement, values) => runOn(connection, statement, values));
    await connection.query('commit');
    return answer;
  } catch (error) {
    // On a broken connection the server rolls back by itself, and the first error is the one that matters.
    await connection.query('rollback').catch(() => {});
    throw error;
  }
}

/** Timestamps become Unix milliseconds; a bigint beyond 2^53 throws rather than lose a credit. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, parseInt8);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53`);
  return value;
}

function parseTimestamp(text: string): number {
  // PostgreSQL writes "2026-11-21 10:00:00.123456+00"; ECMAScript wants a T and minutes in the offset.
  return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
}

/**
 * Classes 08 (connection), 53 (resources), 57 (operator intervention), 25006 (a standby, as during a failover) and errors below SQL, such
 * as of TLS; a unique violation is none of these.
 */
function isUnavailable(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined)
    return /^(?:(08|53|57|25006)|E[A-Z]+$|ERR_(SSL|TLS|OSSL)_)/.test(code) || isCertificateFault(code);
  return error instanceof Error && /timeout|terminated|connection|not queryable/i.test(error.message);
}

/** What Node's TLS finds in a certificate, such as CERT_HAS_EXPIRED and SELF_SIGNED_CERT_IN_CHAIN. */
function isCertificateFault(code: string): boolean {
  return /(^|_)(CERT|SIGNED|VERIFY|ISSUER|CRL)(_|$)/.test(code);
}

/** The name of the broken constraint when the error is a unique violation, else undefined. */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined;
}

/** True when the server broke a circle of statements that waited for each other by ending this one; it may be repeated. */
export function isDeadlock(error: unknown): boolean {
  return errorCode(error) === '40P01';
}

/** True when the server ended the statement before its time, mostly for taking too long: nothing of it was committed. */
export function wasCancelled({ cause }: DatabaseUnavailable): boolean {
  return errorCode(cause) === '57014';
}
