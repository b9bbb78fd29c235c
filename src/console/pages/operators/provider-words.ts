import type { Provider } from '../../api/contract.ts';
import type { Tone } from '../../ui/badge.tsx';
import { duration } from '../../ui/time.tsx';

type Pool = Provider['pools'][number];
type Word = { readonly word: string; readonly tone: Tone };

export const switchWords: Readonly<Record<Provider['state'], Word & { readonly says: string }>> = {
  enabled: { word: 'Enabled', tone: 'good', says: 'It gets new jobs, and its cooldowns end.' },
  draining: {
    word: 'Draining',
    tone: 'warn',
    says: 'It gets no new jobs. Those that run are followed to their end.',
  },
  off: {
    word: 'Off',
    tone: 'bad',
    says: 'No request is sent to it, also not about running jobs. They go on when it is enabled again.',
  },
};

const coolingWords: Readonly<Record<string, string>> = {
  busy: 'busy',
  overloaded: 'overloaded',
  unreachable: 'unreachable',
  operator: 'by an operator',
  unknown: 'unknown reason',
};

/** Whether a pool takes tasks, and if not, why and how long. */
export function poolHealth({ coolingMs, coolingReason, limit, occupying }: Pool, state: Provider['state']): Word {
  if (state !== 'enabled') return { word: 'Takes no tasks', tone: 'calm' };
  if (coolingMs !== null)
    return {
      word: `Cooling ${duration(coolingMs)}, ${coolingWords[coolingReason ?? 'unknown'] ?? coolingReason}`,
      tone: 'warn',
    };
  if (limit !== null && occupying >= limit) return { word: 'Full', tone: 'live' };
  return { word: 'Takes tasks', tone: 'good' };
}
