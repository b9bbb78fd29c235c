import type { Provider } from '../../api/contract.ts';
import type { WordAndTone } from '../../ui/controls/words-and-tones.ts';
import { formatNumber } from '../../ui/number-formats.tsx';
import { formatDuration } from '../../ui/times-and-durations.tsx';

/** Every text about providers. */
export const providersText = {
  lead: 'The providers that generate videos: their health, load and cost.',
  empty: 'No providers',
  emptyAdvice: 'The catalogue has no provider, so every task waits. Add one to the catalogue file.',
  provider: 'Provider',
  switchAction: 'Switch',
  switchState: 'Switch',
  switchTitle: (provider: string) => `Switch ${provider}`,
  switchHelp: (state: string, jobs: number) =>
    `Currently ${state.toLowerCase()}, with ${formatNumber(jobs)} running ${jobs === 1 ? 'job' : 'jobs'}.`,
  switched: (provider: string, state: string) => `${provider}: ${state.toLowerCase()}`,
  state: 'State',
  pools: (provider: string) => `Pools of ${provider}`,
  pool: 'Pool',
  health: 'Health',
  running: 'Running',
  ofLimit: (count: number, limit: number) => `${formatNumber(count)} of ${formatNumber(limit)}`,
  waiting: 'Waiting',
  longestWait: 'Longest wait',
  failures: 'Consecutive failures',
  notInCatalogue: 'No longer in the catalogue.',
  onOurWorkers: 'Runs on the workers of this service, each up to its GENERATION_CONCURRENCY.',
  kindAt: (kind: string, origin: string) => `${kind} at ${origin}.`,
  switchedBy: 'Switched by',
  takesNone: 'Accepts no tasks',
  manyCooling: (cooling: number, pools: number) =>
    `${formatNumber(cooling)} of ${formatNumber(pools)} pools cooling down`,
  seeAll: 'All providers',
  test: 'Test',
  testTitle: (provider: string) => `Test ${provider}`,
  testHelp:
    'A worker requests a job that doesn’t exist. This is free at every provider, and shows whether it’s reachable and accepts our key. The test is recorded in the audit log.',
  runTest: 'Run test',
  runAgain: 'Run again',
  done: 'Done',
  latency: 'Response time',
  httpStatus: 'HTTP status',
  detail: 'Detail',
} as const;

export const providerStateNames = ['enabled', 'draining', 'off'] as const;

const switches: Readonly<Record<string, WordAndTone & { readonly help: string; readonly action: string }>> = {
  enabled: { word: 'Enabled', tone: 'good', action: 'Enable', help: 'Receives new jobs. Ends its cooldowns.' },
  draining: {
    word: 'Draining',
    tone: 'warn',
    action: 'Drain',
    help: 'Receives no new jobs. Running jobs finish.',
  },
  off: {
    word: 'Off',
    tone: 'bad',
    action: 'Turn off',
    help: 'Receives no requests, not even about running jobs. Those continue if you enable it before their deadline; otherwise their tasks are refunded.',
  },
};

/** The words for a switch, also for a state that is newer than this page. */
export function describeProviderState(state: string) {
  return switches[state] ?? { word: state, tone: 'calm' as const, action: state, help: '' };
}

const reasons: Readonly<Record<string, string>> = {
  busy: 'busy',
  overloaded: 'overloaded',
  unreachable: 'unreachable',
  operator: 'held by an operator',
  unknown: 'unknown reason',
};

export const healthyPoolWordAndTone: WordAndTone = { word: 'Accepts tasks', tone: 'good' };

type Pool = Provider['pools'][number];

/** A pool that accepts no tasks has a reason, and often an end. */
export function wordAndToneOfPoolHealth(
  { coolingMs, coolingReason, limit, occupying, unanswered }: Pool,
  state: Provider['state'],
): WordAndTone {
  if (state !== 'enabled') return { word: providersText.takesNone, tone: 'calm' };
  if (coolingMs !== null) {
    const reason = coolingReason ?? 'unknown';
    return { word: `Cooling down ${formatDuration(coolingMs)}, ${reasons[reason] ?? reason}`, tone: 'warn' };
  }
  const isFull = limit !== null && occupying >= limit;
  if (isFull && unanswered > 0) return { word: `Full, ${unanswered} without a response`, tone: 'warn' };
  if (isFull) return { word: 'Full', tone: 'live' };
  return healthyPoolWordAndTone;
}

const outcomes: Readonly<Record<string, WordAndTone & { readonly help: string }>> = {
  ok: { word: 'Works', tone: 'good', help: 'The provider is reachable and accepts our key.' },
  responded: {
    word: 'Unexpected response',
    tone: 'warn',
    help: 'Something responded, but not as this API does. Check the base URL.',
  },
  key_rejected: {
    word: 'Key rejected',
    tone: 'bad',
    help: 'Check the key, its permissions, and your balance with the provider.',
  },
  unavailable: { word: 'Unavailable', tone: 'warn', help: 'The provider is reachable, and busy or failing.' },
  unreachable: { word: 'Unreachable', tone: 'bad', help: 'No connection. Check the base URL and the network.' },
  not_tested: { word: 'Not tested', tone: 'calm', help: 'No request was possible.' },
  no_worker: {
    word: 'No worker',
    tone: 'bad',
    help: 'No worker ran the test in time. Check that workers are running.',
  },
};

/** The words for the result of a test, also for one that is newer than this page. */
export function describeTestOutcome(outcome: string) {
  return outcomes[outcome] ?? { word: outcome, tone: 'calm' as const, help: '' };
}

/** The slots of a pool; those of the preview are limited on each worker, so it has no limit here. */
export function runningOfLimitWords(running: number, limit: number | null, { kind }: Pick<Provider, 'kind'>): string {
  return limit === null || kind === 'preview' ? formatNumber(running) : providersText.ofLimit(running, limit);
}
