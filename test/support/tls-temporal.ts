import { readFileSync } from 'node:fs';
import { connect, constants, createSecureServer, type ServerHttp2Stream, type Http2Session } from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Certificates } from './certificates.ts';

/** A proxy before a Temporal without TLS. It requires a certificate of our authority and an API key, as a hosted cluster does. */
export type TlsTemporal = { readonly address: string; close(): Promise<void> };

/** `UNAUTHENTICATED` of gRPC. */
const unauthenticated = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-status': '16',
  'grpc-message': 'who are you',
};

export async function startTlsTemporal(target: string, files: Certificates, apiKey: string): Promise<TlsTemporal> {
  const [cert, key, ca] = [files.server.cert, files.server.key, files.ca].map((file) => readFileSync(file));
  const server = createSecureServer({ cert, key, ca, requestCert: true, rejectUnauthorized: true });
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
      if (headers.authorization !== `Bearer ${apiKey}`) return stream.respond(unauthenticated, { endStream: true });
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
  return {
    address: `localhost:${port}`,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
