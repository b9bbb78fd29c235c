import { connect } from 'node:net';

/** True when a port of this machine accepts connections; else undefined, for `waitFor`. */
export function listens(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(undefined));
  });
}
