import type { Row } from './row.ts';

/** A Temporal server, and its name in the rows. */
export type Engine = { readonly name: string; readonly address: string; readonly pid: number };

/** The servers that all rows share, and a folder for their files. */
export type Bench = {
  readonly folder: string;
  readonly postgresUrl: string;
  readonly postgresPid: number;
  readonly development: Engine;
  /**
   * Temporal's production server with its data in PostgreSQL if its program is
   * installed, else the development server.
   */
  readonly engine: Engine;
  /**
   * Another built checkout, whose whole tasks are measured alternately with
   * ours.
   */
  readonly beside: string | undefined;
  /**
   * Short loads and small numbers, to test the bench itself. Nothing is warmed
   * up or repeated for a better figure.
   */
  readonly quick: boolean;
  /** The duration of one load. */
  readonly loadMs: number;
  /**
   * The time for which a process accepts creates before it is measured, ours
   * and the floor alike: Node compiles code that runs often, and until that a
   * create costs a third more.
   */
  readonly warmUpMs: number;
  /** The approximate duration of one batch of tasks. */
  readonly batchMs: number;
};

/** Prints progress. */
export type Say = (text: string) => void;

/**
 * Yields each row as soon as it is measured, so that no row is lost when a
 * later one fails.
 */
export type Rows = AsyncGenerator<Row, void, undefined>;
