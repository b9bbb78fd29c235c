import { reserveFreePort } from '../src/run/embedded/local-ports.ts';
import { startChild, type Child } from './child.ts';

/**
 * The receiver of a client in a separate process, which responds with 204
 * immediately.
 */
export type Receiver = {
  readonly child: Child;
  readonly url: string;
  /** Returns the number of callbacks received so far. */
  readonly received: () => Promise<number>;
};

export async function startReceiver(): Promise<Receiver> {
  const port = await reserveFreePort();
  const child = startChild('./floor-receiver.js', { ...process.env, PORT: String(port) });
  const asking: ((received: number) => void)[] = [];
  await new Promise<void>((resolve) => {
    child.onSaid((said) => {
      if (said === 'ready') resolve();
      if (typeof said === 'object' && said !== null && 'received' in said) asking.shift()?.(Number(said.received));
    });
  });
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    received: () =>
      new Promise((resolve) => {
        asking.push(resolve);
        child.tell({ ask: 'received' });
      }),
  };
}
