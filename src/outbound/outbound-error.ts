/** Why an exchange with an address given by a client did not happen or did not end; for the operator's record only. */
export type OutboundKind =
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'closed'
  | 'protocol'
  | 'redirect'
  | 'too_large'
  | 'busy'
  | 'aborted';

const unreachable = 'The address could not be reached.';

/**
 * What a client may read. Every network fault has one and the same sentence: whoever could tell `blocked` from
 * `connect` or `dns` could map our private network by creating tasks.
 */
const publicSentences: Record<OutboundKind, string> = {
  blocked: unreachable,
  dns: unreachable,
  connect: unreachable,
  tls: unreachable,
  timeout: unreachable,
  closed: unreachable,
  protocol: unreachable,
  redirect: unreachable,
  too_large: 'The answer of the address was too large.',
  busy: unreachable,
  aborted: unreachable,
};

/**
 * A failed exchange. `message` is the public sentence, so that a careless `error.message` leaks nothing; `kind`,
 * `detail` and `cause` are for the operator. `busy` and `aborted` are our own doing and say nothing about the address.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly kind: OutboundKind;
  readonly detail: string;

  /** `detail` names the host at most, never a path or a query: those may hold secrets of the client. */
  constructor(kind: OutboundKind, detail: string, cause?: unknown) {
    super(publicSentences[kind], { cause });
    this.kind = kind;
    this.detail = detail;
  }
}
