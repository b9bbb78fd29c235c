type NetworkErrorKind = 'blocked' | 'dns' | 'connect' | 'tls' | 'timeout' | 'closed' | 'protocol' | 'redirect';

/** The reason why an exchange with a client's address failed; for operators only. */
export type OutboundErrorKind = NetworkErrorKind | 'too_large' | 'encoding' | 'busy' | 'aborted';

/** Errors before a request is sent. The last two may also come later; then `wasSent` is set explicitly. */
const unsentKinds: ReadonlySet<OutboundErrorKind> = new Set([
  'blocked',
  'dns',
  'connect',
  'tls',
  'busy',
  'timeout',
  'aborted',
]);

/**
 * A failed exchange. `message` is what a client may read, the same sentence for every network error: a client that could distinguish
 * `blocked` from `connect` or `dns` could map our private network by creating tasks. `kind`, `detail` and `cause` are for the operator.
 * `busy` and `aborted` are caused by us, not by the address.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundErrorKind;
  readonly detail: string;
  /** True if any client could reach the address, so that the kind reveals nothing about our network. */
  isPublic = false;
  /** False proves that no byte of the request left; a TLS handshake is no part of it. */
  readonly wasSent: boolean;

  /** `detail` names the host at most, never a path or a query: those may hold secrets of the client. */
  constructor(kind: OutboundErrorKind, detail: string, cause?: unknown, wasSent = !unsentKinds.has(kind)) {
    const isTooLarge = kind === 'too_large';
    super(isTooLarge ? 'The answer of the address was too large.' : 'The address could not be reached.', { cause });
    this.kind = kind;
    this.detail = detail;
    this.wasSent = wasSent;
  }
}
