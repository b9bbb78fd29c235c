import pTimeout from 'p-timeout';
import pg from 'pg';
import { errorCode, messageOf } from '../setup-errors-and-error-messages.ts';
import { createSlotsPerKey } from '../outbound/deadlines-and-slots.ts';
import { defaultConnectionQueueLimits, type ConnectionQueueLimits } from './connection-queue-limits.ts';

/**
 * The name is unique in the program, and the text never varies. A statement is prepared once on each connection, unless it is
 * `plannedAnew` for each run, which makes optional filters free when they are null.
 */
export type NamedStatement = { readonly name: string; readonly text: string; readonly plannedAnew?: boolean };

/** Throws `DatabaseUnavailableError`, or its subclass `DatabaseBusyError`, if there is no response. */
type Run = <Row extends pg.QueryResultRow>(statement: NamedStatement, values?: readonly unknown[]) => Promise<Row[]>;

export type Database = {
  readonly run: Run;
  /** Runs the statements of `work` in one transaction. `work` must not use the network. */
  transaction<T>(work: (run: Run) => Promise<T>): Promise<T>;
  /**
   * Runs `work` when no other work with this key, the id of an account, runs in this process. Work that waits for the lock of an account then
   * occupies one connection of the pool, and leaves the others to other accounts.
   */
  runExclusive<T>(key: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
};

/** Runs a statement whose columns have the names of the fields of `Row`; null becomes undefined. */
export async function readRows<Row extends pg.QueryResultRow>(
  db: Pick<Database, 'run'>,
  statement: NamedStatement,
  values?: readonly unknown[],
): Promise<Row[]> {
  const rows = await db.run<Row>(statement, values);
  const records: pg.QueryResultRow[] = rows;
  for (const record of records) {
    for (const field in record) if (record[field] === null) record[field] = undefined;
  }
  return rows;
}

export async function readRow<Row extends pg.QueryResultRow>(
  db: Pick<Database, 'run'>,
  statement: NamedStatement,
  values?: readonly unknown[],
): Promise<Row | undefined> {
  const [row] = await readRows<Row>(db, statement, values);
  return row;
}

/** The database is unreachable, starting or shutting down. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
  /** True if a statement was sent, so that it may have been committed. */
  readonly wasSent: boolean;
  /** Set if the database responds, and cannot write. */
  readonly reason: 'disk_full' | 'read_only' | undefined;

  constructor(wasSent: boolean, cause: unknown, address?: string) {
    super(`database unavailable${address === undefined ? '' : ` at ${address}`}: ${messageOf(cause)}`, { cause });
    this.wasSent = wasSent;
    this.reason = writeRefusals[errorCode(cause) ?? ''];
  }
}

/** By SQLSTATE. */
const writeRefusals: Readonly<Record<string, 'disk_full' | 'read_only'>> = {
  '53100': 'disk_full',
  '25006': 'read_only',
};

/** A caller waited too long for a connection or its account's queue, or too many callers waited. Nothing was sent. */
export class DatabaseBusyError extends DatabaseUnavailableError {
  constructor(reason = 'every database connection is in use') {
    super(false, new Error(reason));
  }
}

export type DatabaseOptions = {
  readonly url: string;
  /** The limit of connections; 10 by default. */
  readonly poolSize?: number;
  /** Limits for callers that wait for a connection. */
  readonly queue?: Partial<ConnectionQueueLimits>;
  /** The server ends a transaction that sends no statement for this time; 20 s by default. */
  readonly idleTransactionMs?: number;
  /** Called when an idle connection breaks. The pool replaces it. */
  readonly onIdleError?: (error: Error) => void;
};

export type DatabaseUsage = {
  readonly limit: number;
  readonly idle: number;
  readonly busy: number;
  /** Callers without a connection. */
  readonly waiting: number;
};

export type DatabasePool = Database & { readonly usage: () => DatabaseUsage };

/** On a busy machine, connecting takes seconds. */
const connectTimeoutMs = 10_000;
const statementTimeoutMs = 15_000;
/** A machine that dies within a transaction does not close its connection, and its locks would last for hours. */
const defaultIdleTransactionMs = 20_000;

/** Creates a pool of connections, which connects at the first statement. */
export function createDatabase({
  url,
  poolSize = 10,
  queue,
  idleTransactionMs = defaultIdleTransactionMs,
  onIdleError,
}: DatabaseOptions): DatabasePool {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleTransactionMs,
    query_timeout: statementTimeoutMs + 1_000,
    application_name: 'videogen',
    types,
  });
  pool.on('error', (error) => onIdleError?.(error));
  // The server may end a new connection before the caller that waits for it has
  // added a listener, and an error without a listener ends the process.
  pool.on('connect', (connection) => connection.on('error', () => {}));
  const address = addressOf(url);
  const { maxWaiting, waitMs } = { ...defaultConnectionQueueLimits, ...queue };
  // The pool's own queue has one time limit for waiting and for connecting, so it cannot distinguish a busy database from an unreachable one.
  const connections = createSlotsPerKey({
    maxHeld: poolSize,
    maxWaiting,
    maxWaitMs: waitMs,
    refusal: () => new DatabaseBusyError(),
  });
  const accounts = createSlotsPerKey({
    maxHeld: 1,
    maxWaiting,
    maxWaitMs: waitMs / 2,
    refusal: () => new DatabaseBusyError('too many requests wait for one account'),
  });
  let callers = 0;
  const queued = async <T>(work: () => Promise<T>): Promise<T> => {
    callers += 1;
    return await connections.hold('connection', undefined, work).finally(() => (callers -= 1));
  };
  return {
    usage: () => ({
      limit: poolSize,
      idle: pool.idleCount,
      busy: pool.totalCount - pool.idleCount,
      waiting: Math.max(0, callers - poolSize),
    }),
    run: (statement, values) =>
      queued(() => onConnection({ pool, address }, (connection) => runOn(connection, statement, values))),
    transaction: (work) =>
      queued(() => onConnection({ pool, address }, (connection) => inTransaction(connection, work))),
    runExclusive: (key, work) => accounts.hold(key, undefined, work),
    close: () => pool.end(),
  };
}

/** The database within a transaction: functions that open a transaction of their own take part in this one. */
export function databaseJoiningTransaction({ run }: Pick<Database, 'run'>): Database {
  return {
    run,
    transaction: (work) => work(run),
    runExclusive: (_key, work) => work(),
    close: () => Promise.resolve(),
  };
}

export function withResponseTimeLimit(db: Database, limitMs: number): Database {
  const late = () => new DatabaseUnavailableError(true, new Error(`no response in ${limitMs} ms`));
  return {
    ...db,
    run: (statement, values) => {
      return pTimeout(db.run(statement, values), { milliseconds: limitMs, message: late() });
    },
  };
}

/** Returns host and port, without the password. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return 'an invalid address';
  const { hostname, port, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? hostname}:${port === '' ? '5432' : port}`;
}

/** A broken connection is closed; one whose statement failed returns to the pool. */
async function onConnection<T>(
  { pool, address }: { readonly pool: pg.Pool; readonly address: string },
  work: (connection: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const connection = await connecting(pool).catch((error: unknown) => {
    throw isUnavailable(error) ? new DatabaseUnavailableError(false, error, address) : error;
  });
  let isBroken = false;
  // A broken connection rejects its statement and then emits an error, which would end the process without a listener.
  const onBroken = () => {
    isBroken = true;
  };
  connection.on('error', onBroken);
  try {
    return await work(connection);
  } catch (error) {
    isBroken ||= isUnavailable(error);
    throw isUnavailable(error) ? new DatabaseUnavailableError(!wasRefused(error), error, address) : error;
  } finally {
    connection.off('error', onBroken);
    connection.release(isBroken);
  }
}

/** `async`, because the pool throws instead of rejecting if it cannot read the certificate in the address. */
async function connecting(pool: pg.Pool): Promise<pg.PoolClient> {
  return await pool.connect();
}

async function runOn<Row extends pg.QueryResultRow>(
  connection: pg.PoolClient,
  { name, text, plannedAnew }: NamedStatement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { rows } = await connection.query<Row>({ ...(!plannedAnew && { name }), text, values: [...values] });
  return rows;
}

async function inTransaction<T>(connection: pg.PoolClient, work: (run: Run) => Promise<T>): Promise<T> {
  await connection.query('begin');
  try {
    const result = await work((statement, values) => runOn(connection, statement, values));
    await connection.query('commit');
    return result;
  } catch (error) {
    // On a broken connection the server rolls back anyway. The first error is reported.
    await connection.query('rollback').catch(() => {});
    throw error;
  }
}

/** Timestamps become Unix milliseconds. A bigint beyond 2^53 throws, because rounding would lose credits. */
const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, parseInt8);
types.setTypeParser(pg.types.builtins.TIMESTAMPTZ, parseTimestamp);

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is beyond 2^53`);
  return value;
}

function parseTimestamp(text: string): number {
  // PostgreSQL writes "2026-11-21 10:00:00.123456+00"; ECMAScript needs a T, and minutes in the offset.
  return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
}

/** True if the server responded that it cannot write or read its files, or has no room. Such a statement was not committed. */
function wasRefused(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity === 'ERROR' && /^(53|58030|25006)/.test(error.code ?? '');
}

/**
 * True for the classes 08 (connection), 53 (resources), 57 (operator intervention), 58030 (a disk), 25006 (a standby), 25P03 (a transaction that was idle
 * for too long), and for errors of sockets and TLS.
 */
function isUnavailable(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined)
    return /^(?:(08|53|57|58030|25006|25P03)|E[A-Z]+$|ERR_(SSL|TLS|OSSL)_)/.test(code) || isCertificateError(code);
  return error instanceof Error && /timeout|terminated|connection|not queryable/i.test(error.message);
}

/** True for codes such as CERT_HAS_EXPIRED and SELF_SIGNED_CERT_IN_CHAIN. */
function isCertificateError(code: string): boolean {
  return /(^|_)(CERT|SIGNED|VERIFY|ISSUER|CRL)(_|$)/.test(code);
}

export function violatedUniqueConstraint(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError && error.code === '23505' ? error.constraint : undefined;
}

/** The statement may be repeated. */
export function isDeadlock(error: unknown): boolean {
  return errorCode(error) === '40P01';
}

/** True if the server cancelled the statement, mostly after its time limit. Nothing was committed. */
export function wasCancelled({ cause }: DatabaseUnavailableError): boolean {
  return errorCode(cause) === '57014';
}
