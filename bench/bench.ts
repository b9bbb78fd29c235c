import type { TemporalAddress } from './production-temporal.ts';

/** The servers that all rows share, and a folder for what they write. */
export type Bench = {
  readonly folder: string;
  readonly postgresUrl: string;
  /** The development server. */
  readonly temporal: TemporalAddress;
  /** The production server with its data in PostgreSQL; undefined when there is no program for it. */
  readonly production: TemporalAddress | undefined;
  /** Short loads and small numbers, to try the bench itself. */
  readonly quick: boolean;
  /** How long one load runs. */
  readonly loadMs: number;
  /**
   * How long a process takes creates before it is measured, ours and the floor alike: Node compiles what it runs often, and until
   * then a create costs a third more.
   */
  readonly warmUpMs: number;
  /** Tasks in one batch of whole tasks, after two such batches to warm up; and tasks until memory is looked at for good. */
  readonly batch: number;
  readonly memoryTasks: number;
};
