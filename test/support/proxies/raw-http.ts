import { connect, type Socket } from 'node:net';
import { type Answer, answerOf } from '../service/http-client.ts';

/** A bare connection, for what no HTTP client would send. */
export type RawConnection = {
  readonly socket: Socket;
  write(bytes: string | Buffer): void;
  /** Everything received until the server closed the connection. */
  readonly closed: Promise<string>;
  /** Resolves once what was received so far matches. */
  received(pattern: RegExp): Promise<string>;
};

export function rawConnection(port: number): RawConnection {
  const socket = connect({ host: '127.0.0.1', port });
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => (text += chunk));
  // A reset is one of the ways in which a server closes; what had arrived before counts.
  socket.on('error', () => undefined);
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    closed: new Promise((resolve) => socket.once('close', () => resolve(text))),
    received: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(text)) return;
          socket.off('data', look);
          resolve(text);
        };
        socket.on('data', look);
        socket.once('close', () => reject(new Error(`closed after: ${text}`)));
        look();
      }),
  };
}

/** Sends bytes and answers everything that came back until the server closed. */
export function rawExchange(port: number, bytes: string | Buffer): Promise<string> {
  const connection = rawConnection(port);
  connection.write(bytes);
  return connection.closed;
}

/** The only answer in what a server sent; fails when there is none or more follows. */
export function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const bytes = Buffer.from(rest.join('\r\n\r\n'), 'latin1');
  if (headers['content-length'] !== String(bytes.length)) throw new Error(`not one whole answer: ${text}`);
  return answerOf(status, headers, bytes);
}
