import { brand } from '../../api/page-brand.ts';
import { formatNumber } from '../../ui/number-formats.tsx';

/** Every text of both overviews. */
export const accountOverviewText = {
  lead: (account: string) => `The last seven days of ${account}, in UTC.`,
  newVideo: 'New video',
  balance: 'Balance',
  seeLedger: 'View ledger',
  requested: 'Videos requested',
  sevenDays: 'last 7 days',
  charged: 'Charged',
  creditsSevenDays: 'credits, last 7 days',
  refunded: 'Refunded',
  forTasksWithoutVideo: 'for failed tasks and incomplete videos',
  inProgress: 'In progress',
  seeTasks: 'View tasks',
  firstSteps: 'First steps',
  done: 'Done',
  steps: {
    task: {
      title: 'Try it here',
      text: 'Describe a video in the playground and watch it being generated.',
      action: 'Open the playground',
    },
    key: {
      title: 'Create an API key',
      text: 'Your programs authenticate with it. It’s shown only once.',
      action: 'Create a key',
    },
    callback: {
      title: 'Set up callbacks',
      text: 'Send a callBackUrl with a request to get notified when a video is ready.',
      action: 'View callbacks',
    },
  },
  recent: 'Recent tasks',
  allTasks: 'All tasks',
  terminal: 'Or start from your terminal',
  terminalText: `With a key in ${brand.keyVariable}, this creates your first video:`,
  booksChecked: 'Ledger checked',
  booksAgree: 'every charge, refund and balance matches.',
  booksDiffer: (count: number) =>
    `operators are reviewing ${formatNumber(count)} ${count === 1 ? 'entry' : 'entries'}.`,
} as const;

export const operatorOverviewText = {
  lead: 'The state of the whole service. Updates every few seconds.',
  stuck: (count: number) => `${formatNumber(count)} ${count === 1 ? 'task is' : 'tasks are'} stuck`,
  stuckText:
    'Their workflow code keeps failing. They’re refunded automatically after a while. The worker log has the reason.',
  waiting: 'Waiting',
  queuing: 'Queued',
  generating: 'Generating',
  none: 'none',
  oldest: (age: string) => `oldest ${age}`,
  pendingCallbacks: 'Pending callbacks',
  noneOverdue: 'none overdue',
  overdue: (count: number) => `${formatNumber(count)} overdue`,
  failedCallbacks: 'Failed callbacks',
  lastDayAll: 'last 24 hours · View all',
  lastDay: 'Last 24 hours',
  created: 'Created',
  succeeded: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
  rejected: 'Content rejected',
  charged: 'Charged',
  refunded: 'Refunded',
  failures: 'Failures in 24 hours',
  noFailures: 'None.',
  ledger: 'Ledger',
  notChecked: 'The ledger has not been checked yet',
  balanced: (age: string) => `All balances match the ledger, checked ${age}`,
  violations: (count: number, age: string) =>
    `${formatNumber(count)} ${count === 1 ? 'violation' : 'violations'}, checked ${age}`,
  violationsText: 'Don’t adjust credits manually until you know the cause.',
  found: 'found',
} as const;
