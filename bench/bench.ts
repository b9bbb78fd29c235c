import type { Row } from './row.ts';

/** A server of Temporal's, and its name in the rows. */
export type Engine = { readonly name: string; readonly address: string; readonly pid: number };

/** The servers that all rows share, and a folder for what they write. */
export type Bench = {
  readonly folder: string;
  readonly postgresUrl: string;
  readonly postgresPid: number;
  readonly development: Engine;
  /** Temporal's production server with its data in PostgreSQL where there is a program for it, else the development server. */
  readonly engine: Engine;
  /** Another built checkout, whose whole tasks are measured in turns with ours. */
  readonly beside: string | undefined;
  /** Short loads and small numbers, to try the bench itself. */
  readonly quick: boolean;
  /** How long one load runs. */
  readonly loadMs: number;
  /**
   * How long a process takes creates before it is measured, ours and the floor alike: Node compiles what it runs often, and until
   * then a create costs a third more.
   */
  readonly warmUpMs: number;
  /** About how long one batch of tasks is to take. */
  readonly batchMs: number;
};

/** What is said while it is measured, and what the report says below its table. */
export type Telling = { readonly say: (text: string) => void; readonly note: (text: string) => void };

/** Yields each row as soon as it is measured, so that none is lost when a later one fails. */
export type Rows = AsyncGenerator<Row, void, undefined>;
