import { formatNumber } from '../../ui/number-formats.tsx';

/** Every text about cost and margin. */
export const marginText = {
  title: 'Cost and margin',
  caption: 'Cost and margin by price and provider',
  period: 'Period',
  periods: { 1: 'Last 24 hours', 7: 'Last 7 days', 30: 'Last 30 days', 90: 'Last 90 days' },
  creditValue: (value: string) => `1 credit = ${value}`,
  paid: (currency: string, isTest: boolean) => `Received in ${currency}${isTest ? ' (test)' : ''}`,
  purchases: (count: number, returned: string | undefined) => {
    const bought = count === 1 ? '1 purchase' : `${formatNumber(count)} purchases`;
    return returned === undefined ? bought : `${bought}, less ${returned} refunded`;
  },
  empty: 'No tasks ended in this period',
  emptyAdvice: 'Choose a longer period.',
  model: 'Model',
  provider: 'Provider',
  neverStarted: 'never started',
  tasks: 'Tasks',
  jobs: 'Jobs',
  earned: 'Earned',
  cost: 'Cost',
  margin: 'Margin',
  unknown: 'unknown',
  atLeast: (cost: string) => `at least ${cost}`,
  unknownJobs: (jobs: number) => `${formatNumber(jobs)} unknown`,
  foreignJobs: (jobs: number) => `${formatNumber(jobs)} in another currency`,
} as const;
