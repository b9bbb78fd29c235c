import { keptPort } from '../src/embedded/kept-port.ts';
import { startChild, type Child } from './child.ts';

/** A client's receiver in a process of its own, which answers 204 at once. */
export type Receiver = {
  readonly child: Child;
  readonly url: string;
  /** Asks how many came, and answers what it last said: for asking again and again. */
  readonly receivedNow: () => Promise<number>;
};

export async function startReceiver(): Promise<Receiver> {
  const port = await keptPort(undefined, undefined);
  const child = startChild('./floor-receiver.js', { ...process.env, PORT: String(port) });
  let received = 0;
  await new Promise<void>((resolve) => {
    child.onSaid((said) => {
      if (said === 'ready') resolve();
      if (typeof said === 'object' && said !== null && 'received' in said) received = Number(said.received);
    });
  });
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    receivedNow: () => {
      child.tell({ ask: 'received' });
      return Promise.resolve(received);
    },
  };
}
