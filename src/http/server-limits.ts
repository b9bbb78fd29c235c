/** Bounds on what a connection may cost; times in milliseconds. */
export type ServerLimits = {
  /** From the first byte to the end of the headers. */
  readonly headersTimeoutMs: number;
  /** From the first byte to the end of the body. */
  readonly requestTimeoutMs: number;
  /** How long an idle connection is kept; longer than the usual 60 s of a load balancer, which must be the one to close. */
  readonly keepAliveTimeoutMs: number;
  /** A connection on which nothing moves, as of a client that does not read; longer than a held answer may take. */
  readonly stalledTimeoutMs: number;
  readonly maxHeaderBytes: number;
  readonly maxConnections: number;
  /** How often the first two are looked at. */
  readonly checkEveryMs: number;
};

export const defaultServerLimits: ServerLimits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  stalledTimeoutMs: 120_000,
  maxHeaderBytes: 16 * 1024,
  maxConnections: 10_000,
  checkEveryMs: 2_000,
};
