import { OutboundError } from './outbound-error.ts';
import { targetOf } from './target-of.ts';

export type CallbackSlotLimits = {
  /** Attempts of one account at the same time, in this process. */
  readonly maxPerAccount: number;
  /** Attempts of one account at one host; fewer, so that its dead receiver leaves room for its healthy one. */
  readonly maxPerReceiver: number;
};

export type CallbackSlots = {
  /** Takes a slot and answers how to give it back, once. Throws `OutboundError` (`busy`) at once when none is free. */
  take(accountId: string, url: string): () => void;
};

const defaults: CallbackSlotLimits = { maxPerAccount: 16, maxPerReceiver: 8 };

/** A hundred hanging receivers of one account use up the account's own slots, never those of another. */
export function createCallbackSlots(limits: Partial<CallbackSlotLimits> = {}): CallbackSlots {
  const { maxPerAccount, maxPerReceiver } = { ...defaults, ...limits };
  const held = new Map<string, number>();
  const heldBy = (key: string) => held.get(key) ?? 0;
  const giveBack = (key: string) => {
    if (heldBy(key) > 1) held.set(key, heldBy(key) - 1);
    else held.delete(key);
  };
  return {
    take: (accountId, url) => {
      const receiver = `${accountId} ${targetOf(new URL(url)).hostname}`;
      if (heldBy(accountId) >= maxPerAccount || heldBy(receiver) >= maxPerReceiver) {
        throw new OutboundError('busy', `the callbacks of account ${accountId} have no free slot`);
      }
      const keys = [accountId, receiver];
      for (const key of keys) held.set(key, heldBy(key) + 1);
      return () => keys.forEach(giveBack);
    },
  };
}
