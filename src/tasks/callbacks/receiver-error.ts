// Why a receiver gave no response. An attempt records the kind of network error, for operators, and whether any client could reach the
// receiver. Only then does its account read the kind: a client that could distinguish `connect` from `timeout` at any address could map our
// private network. A name that does not resolve is `unreachable` like a private address, because internal names would show otherwise.

export const receiverErrorKinds = ['unreachable', 'refused', 'tls', 'timeout', 'closed'] as const;
export type ReceiverErrorKind = (typeof receiverErrorKinds)[number];

type Failed = { readonly kind: string; readonly isPublic: boolean };

const publicMark = 'public ';

/** The text of an attempt's record. */
export function recordedError({ kind, isPublic }: Failed): string {
  return isPublic ? `${publicMark}${kind}` : kind;
}

/** The kind of network error, for operators. */
export function recordedErrorKind(recorded: string | undefined): string | null {
  return recorded?.replace(publicMark, '') ?? null;
}

const kinds: Readonly<Record<string, ReceiverErrorKind>> = { connect: 'refused', tls: 'tls', timeout: 'timeout' };

/** The error that the account reads. */
export function receiverErrorForAccount(recorded: string | undefined): ReceiverErrorKind {
  return isPublicReceiverError(recorded) ? (kinds[recordedErrorKind(recorded) ?? ''] ?? 'closed') : 'unreachable';
}

export function isPublicReceiverError(recorded: string | undefined): boolean {
  return recorded?.startsWith(publicMark) === true;
}
