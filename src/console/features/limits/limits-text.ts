import type { Answer } from '../../api/call.ts';
import { formatNumber } from '../../ui/number-formats.tsx';

type Limits = Answer<'/api/v1/limits'>;
type Period = Limits['spendCaps'][number]['period'];

/** Every string of the limits of an account. */
export const limitsText = {
  lead: (account: string) =>
    `What ${account} can use, and what’s left. Requests over a limit are rejected and cost nothing.`,
  card: 'Limits and usage',
  unfinished: 'Unfinished tasks',
  unfinishedHelp: 'Waiting or running at the same time.',
  creates: 'New tasks',
  reads: 'Other requests',
  readsHelp: 'For you, in this console. API keys share a separate limit of the same size.',
  rate: (quota: number, seconds: number) =>
    `${formatNumber(quota)} per ${seconds === 1 ? 'second' : `${formatNumber(seconds)} s`}`,
  remaining: (count: number) => `${formatNumber(count)} left now`,
  unlimited: 'No limit',
  caps: { day: 'Spend per day', month: 'Spend per month', total: 'Spend in total' } as Readonly<Record<Period, string>>,
  noCaps: 'Spend limits',
  noCapsHelp: 'None set. Owners can set them on the Credits page.',
  resets: 'Resets',
  uploads: 'Uploaded files',
  uploadedBytes: 'Size of uploaded files',
  keys: 'Active API keys',
  usedOf: (used: string, limit: string) => `${used} of ${limit}`,
  more: 'Need more? Ask the operator of this service.',
  support: 'Contact support',
  retention: {
    title: 'Storage',
    media: 'Videos and uploaded files',
    prompts: 'Prompts and inputs',
    records: 'Task records and the ledger',
    days: (days: number) => `Deleted after ${formatNumber(days)} ${days === 1 ? 'day' : 'days'}`,
    noLimit: 'Stored until you delete them',
    stored: 'Stored',
  },
} as const;
