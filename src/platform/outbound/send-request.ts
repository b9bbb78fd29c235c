import { type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type TcpSocketConnectOpts } from 'node:net';
import { isSameAddress } from './guard/guard.ts';
import { OutboundError } from './outbound-error.ts';

export type OutboundRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** The checked addresses. No other one is connected to. */
  readonly addresses: readonly string[];
  /** PEM certificates that replace the public authorities; for tests. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
};

export type ResponseReader<T> = (response: IncomingMessage) => Promise<T>;

/** The stage decides what an error means: once the request may have been sent, the other side has `closed`. */
type Progress = { stage: 'connect' | 'tls' | 'closed' };

/**
 * Sends one request once, over a connection of its own that is closed when `read` returns. The only time limit is the signal. Throws
 * `OutboundError` for errors of the other side, and the errors of `read`.
 */
export async function sendToCheckedAddresses<T>(request: OutboundRequest, read: ResponseReader<T>): Promise<T> {
  const { signal } = request;
  signal.throwIfAborted();
  const outgoing = send(request);
  const progress: Progress = { stage: 'connect' };
  try {
    return await read(await responseTo(outgoing, request, progress));
  } catch (error) {
    if (signal.aborted && progress.stage === 'closed') throw afterSending(signal.reason);
    signal.throwIfAborted();
    throw error;
  } finally {
    outgoing.destroy();
  }
}

/** Enough addresses to survive a dead server or a missing address family. */
const maxAddresses = 4;

function send({ method, url, headers, body, addresses, ca, signal }: OutboundRequest): ClientRequest {
  const answers = addresses.slice(0, maxAddresses).map((address) => ({ address, family: isIP(address) }));
  const options: RequestOptions & Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'> = {
    method,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host },
    agent: false,
    // `lookup` returns the checked addresses, so a second resolution of the name cannot lead to another address. It calls back
    // asynchronously, as DNS does: the connection to an address without a route fails within the call, before a listener for the error of
    // the socket exists.
    lookup: (_hostname, _options, done) => void setImmediate(done, null, answers),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 4_000,
    signal,
    ...(ca !== undefined && { ca }),
  };
  const outgoing = url.protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
  outgoing.end(body);
  return outgoing;
}

async function responseTo(
  outgoing: ClientRequest,
  { url, addresses }: OutboundRequest,
  progress: Progress,
): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('socket', (socket) => {
      const onConnected = () => {
        progress.stage = url.protocol === 'https:' ? 'tls' : 'closed';
        // The last check before a byte of the request is sent.
        const { remoteAddress } = socket;
        if (remoteAddress === undefined || isOneOfAddresses(addresses, remoteAddress)) return;
        outgoing.destroy(new OutboundError('blocked', `connected to ${remoteAddress}, which was not checked`));
      };
      socket.once('connect', onConnected).once('secureConnect', () => (progress.stage = 'closed'));
    });
    // The listeners stay: errors may follow a response, and then reach the reader of its body.
    outgoing.on('error', (error) => reject(outboundErrorFor(error, progress.stage)));
    outgoing.once('response', (response) => resolve(response.on('error', () => {})));
    // The last event, and the only one after 101 (Switching Protocols), which Node treats neither as a response nor as an error.
    outgoing.once('close', () => reject(new OutboundError('protocol', 'closed without a response')));
  });
}

export function isOneOfAddresses(addresses: readonly string[], remoteAddress: string): boolean {
  return addresses.some((address) => isSameAddress(address, remoteAddress));
}

/** Adds to the reason of a signal that the request may have been sent. */
function afterSending(reason: unknown): unknown {
  return reason instanceof OutboundError ? new OutboundError(reason.kind, reason.detail, reason, true) : reason;
}

export function outboundErrorFor(error: unknown, stage: Progress['stage']): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isProtocol = stage === 'closed' && /^(?:HPE_|ERR_SSL|Z_DATA_ERROR|ERR__ERROR_FORMAT)/.test(code);
  return new OutboundError(isProtocol ? 'protocol' : stage, code || String(error), error);
}
