import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { Certificates } from './certificates.ts';
import { startGrpcProxy } from './grpc-proxy.ts';

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
  const isKnown = (authorization?: string) => authorization === `Bearer ${apiKey}`;
  const { port, close } = await startGrpcProxy(
    target,
    ({ authorization }) => (isKnown(authorization) ? undefined : unauthenticated),
    server,
  );
  return { address: `localhost:${port}`, close };
}
