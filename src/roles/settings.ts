import type { Config } from '../config.ts';
import type { TemporalTarget } from '../temporal/connect.ts';

/** A configuration in which everything that may be embedded has been found or started. */
export type Settings = Config & {
  readonly databaseUrl: string;
  readonly temporal: TemporalTarget;
  /** On which servers of ours listen beside those that these settings name. */
  readonly embeddedPorts: readonly number[];
  readonly secret: string;
  readonly publicUrl: string;
  /** The folder of the result store. */
  readonly resultStore: string;
  /** For a person at this machine; undefined where it is not known. */
  readonly temporalUiUrl?: string | undefined;
  /** A folder on a local disk for files that live as long as one attempt. */
  readonly workFolder: string;
};

/** A part of the service that is running. */
export type Role = {
  /** Tells proxies to send requests elsewhere: `/readyz` answers 503 from now on, everything else goes on. */
  leave?(): void;
  /** Drains it within a bound and then returns, whatever happens. */
  close(): Promise<void>;
};
