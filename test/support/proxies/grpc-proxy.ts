import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import {
  connect,
  constants,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Returns the headers of a response that replaces the server's; undefined to forward the request. */
export type Replace = (headers: IncomingHttpHeaders) => OutgoingHttpHeaders | undefined;

export type GrpcProxy = {
  readonly port: number;
  /** Breaks every connection; clients may connect again. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
};

/** Forwards each request to the gRPC server at `target` (host:port), unless `replace` has a response for it. */
export async function startGrpcProxy(
  target: string,
  replace: Replace,
  server: Http2Server | Http2SecureServer = createServer(),
): Promise<GrpcProxy> {
  const sessions = new Set<Http2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    const upstream = connect(`http://${target}`);
    sessions.add(upstream);
    upstream.on('error', () => session.destroy());
    session.on('error', () => upstream.destroy());
    session.on('close', () => upstream.destroy());
    session.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => {});
      const replaced = replace(headers);
      if (replaced !== undefined) return stream.respond(replaced, { endStream: true });
      const { ':authority': _authority, ':scheme': _scheme, ...rest } = headers;
      const request = upstream.request(rest);
      request.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
      stream.on('close', () => request.close(constants.NGHTTP2_CANCEL));
      stream.pipe(request);
      request.on('response', (answer, flags) => {
        if (stream.destroyed) return;
        const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true });
        if (isWhole) return;
        let trailers: IncomingHttpHeaders = {};
        request.on('trailers', (given: IncomingHttpHeaders) => {
          trailers = given;
        });
        stream.on('wantTrailers', () => stream.sendTrailers(trailers));
        request.pipe(stream);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a listening TCP server has one
  const cut = () => {
    for (const session of sessions) session.destroy();
    sessions.clear();
  };
  return {
    port,
    cut,
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
