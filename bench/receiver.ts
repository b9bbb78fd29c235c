import { freePort } from '../src/embedded/persisted-port.ts';
import { startChild, type Child } from './child.ts';

/** A client's receiver in a process of its own, which answers 204 at once. */
export type Receiver = {
  readonly child: Child;
  readonly url: string;
  /** How many have come by now. */
  readonly received: () => Promise<number>;
};

export async function startReceiver(): Promise<Receiver> {
  const port = await freePort();
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
