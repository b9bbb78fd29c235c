import { createSharedPoll } from '../src/platform/timing/shared-poll.ts';
import type { ProviderSwitchPosition, StoredSwitch } from '../src/tasks/jobs/provider-pools-and-switches.ts';

// `reserveSlot` checks the operator's switches in the database itself. These reads are for jobs that already run, and for our own machine,
// which has no slots.

type SwitchesDeps = {
  readonly list: () => Promise<readonly Pick<StoredSwitch, 'provider' | 'state'>[]>;
  /** Called if the database is unavailable. Watches then act on the switches that were read before; `isOff` and `isDisabled` reject. */
  readonly onError: (error: unknown) => void;
};

export type ProviderSwitches = {
  /** True while no request at all may be sent to the provider. */
  readonly isOff: (provider: string) => Promise<boolean>;
  /** True while the provider takes no new task: it is off, or draining. */
  readonly isDisabled: (provider: string) => Promise<boolean>;
  /** Returns a signal that aborts within seconds after the provider is switched off, until `stop`. */
  readonly watch: (provider: string) => { readonly signal: AbortSignal; readonly stop: () => void };
};

const pollMs = 3_000;

export function watchProviderSwitches({ list, onError }: SwitchesDeps): ProviderSwitches {
  type Watch = { readonly provider: string; readonly off: AbortController };
  let states: ReadonlyMap<string, ProviderSwitchPosition> = new Map();
  const switches = createSharedPoll<Watch>({
    everyMs: pollMs,
    poll: async (watches) => {
      states = new Map((await list()).map(({ provider, state }) => [provider, state]));
      for (const { provider, off } of watches) if (states.get(provider) === 'off') off.abort();
    },
    onError,
  });
  const read = async (provider: string) => {
    await switches.run();
    return states.get(provider) ?? 'enabled';
  };
  return {
    isOff: async (provider) => (await read(provider)) === 'off',
    isDisabled: async (provider) => (await read(provider)) !== 'enabled',
    watch: (provider) => {
      const watch: Watch = { provider, off: new AbortController() };
      return { signal: watch.off.signal, stop: switches.watch(watch) };
    },
  };
}
