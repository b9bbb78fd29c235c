import type { SetSwitch } from '../src/stores/provider-pools.ts';

// Which providers the operator has switched off: nothing is asked of them, not even about running jobs. Admission to a place asks
// the database itself; this is for what goes on after it, and for our own machine, which has no places.

export type SwitchesDeps = {
  readonly list: () => Promise<readonly Pick<SetSwitch, 'provider' | 'state'>[]>;
  /** The database gave no answer; what was known before counts. */
  readonly onError: (error: unknown) => void;
};

export type Switches = {
  readonly isOff: (provider: string) => Promise<boolean>;
  /** Whether the provider takes no new task: it is off, or draining. */
  readonly isDisabled: (provider: string) => Promise<boolean>;
  /** A signal that aborts soon after the provider is switched off, until `stop`. */
  readonly watch: (provider: string) => { readonly signal: AbortSignal; readonly stop: () => void };
};

const lookMs = 3_000;

export function createSwitches({ list, onError }: SwitchesDeps): Switches {
  type Watch = { readonly provider: string; readonly off: AbortController };
  const watches = new Set<Watch>();
  let off: ReadonlySet<string> = new Set();
  let disabled: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  const look = async () => {
    const switches = await list();
    off = new Set(switches.filter(({ state }) => state === 'off').map(({ provider }) => provider));
    disabled = new Set(switches.filter(({ state }) => state !== 'enabled').map(({ provider }) => provider));
    for (const watch of watches) if (off.has(watch.provider)) watch.off.abort();
  };
  /** Those who come at the same time share a look. */
  const lookOnce = () => (looking ??= look().finally(() => (looking = undefined)));
  return {
    isOff: async (provider) => {
      await lookOnce();
      return off.has(provider);
    },
    isDisabled: async (provider) => {
      await lookOnce();
      return disabled.has(provider);
    },
    watch: (provider) => {
      const watch: Watch = { provider, off: new AbortController() };
      watches.add(watch);
      timer ??= setInterval(() => void lookOnce().catch(onError), lookMs);
      const stop = () => {
        watches.delete(watch);
        if (watches.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
      return { signal: watch.off.signal, stop };
    },
  };
}
