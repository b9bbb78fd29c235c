import { request } from 'node:http';
import { createServer } from 'node:https';
import { testCertificate, testKey } from '../hostile/hostile-certificate.ts';

/** Ends TLS on a port of this machine and passes everything on to a service without TLS, as a reverse proxy does. */
export async function startTlsProxy(port: number, targetPort: number): Promise<{ close(): void }> {
  const server = createServer({ cert: testCertificate, key: testKey }, (req, res) => {
    const forwarded = { 'x-forwarded-for': req.socket.remoteAddress ?? '', 'x-forwarded-proto': 'https' };
    const passedOn = request(
      {
        hostname: '127.0.0.1',
        port: targetPort,
        path: req.url,
        method: req.method,
        headers: { ...req.headers, ...forwarded },
      },
      (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      },
    );
    passedOn.on('error', () => res.destroy());
    res.on('close', () => passedOn.destroy());
    req.pipe(passedOn);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  return {
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
