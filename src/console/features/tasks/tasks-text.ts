import type { TaskDetail, TaskRecord, TaskTimeline } from '../../api/contract.ts';
import { outcomeOfFailCode, type FailOutcome } from '../../../catalogue/tasks/fail-codes-and-outcomes.ts';
import { wordAndToneOf } from '../../ui/controls/words-and-tones.ts';
import { type WordAndTone } from '../../ui/controls/words-and-tones.ts';
import { type Tone } from '../../ui/controls/words-and-tones.ts';
import { formatsTextByKind } from '../../../media/references/upload-limits-and-addresses.ts';
import { formatCredits, formatNumber } from '../../ui/number-formats.tsx';

// Every text of tasks. A tab stays open while the service is upgraded, so states and codes that are newer than its code appear as they are.

type State = TaskRecord['state'];
type FailCode = NonNullable<TaskRecord['failCode']>;

const stateWords: Readonly<Record<State, WordAndTone>> = {
  waiting: { word: 'Waiting', tone: 'calm' },
  queuing: { word: 'Queued', tone: 'calm' },
  generating: { word: 'Generating', tone: 'live' },
  success: { word: 'Succeeded', tone: 'good' },
  fail: { word: 'Failed', tone: 'bad' },
};

const outcomeWords: Readonly<Record<FailOutcome, WordAndTone>> = {
  cancelled: { word: 'Cancelled', tone: 'calm' },
  rejected: { word: 'Rejected', tone: 'calm' },
  failed: stateWords.fail,
};

/** A task that was cancelled, or whose input was rejected, has not failed. */
export function wordAndToneOfTask({
  state,
  failCode,
}: {
  readonly state: string;
  readonly failCode: string | null;
}): WordAndTone {
  if (state === 'fail' && failCode !== null) return outcomeWords[outcomeOfFailCode(failCode)];
  return wordAndToneOf(stateWords, state);
}

type StateFilter = {
  /** In the address. */
  readonly value: string;
  readonly label: string;
  readonly query: { readonly state: Exclude<State, 'fail'> } | { readonly outcome: FailOutcome };
};

export const stateFilters: readonly StateFilter[] = [
  ...(['waiting', 'queuing', 'generating', 'success'] as const).map((state) => ({
    value: state,
    label: stateWords[state].word,
    query: { state },
  })),
  ...(['failed', 'cancelled', 'rejected'] as const).map((outcome) => ({
    value: outcome,
    label: outcomeWords[outcome].word,
    query: { outcome },
  })),
];

type Failure = { readonly title: string; readonly advice: string };

const failWords: Readonly<Record<FailCode, Failure>> = {
  content_rejected: {
    title: 'Content rejected',
    advice: 'The model rejected the prompt or a reference file. Change it, then run it again.',
  },
  image_unreachable: {
    title: 'Couldn’t fetch an image',
    advice: 'Check that its URL opens without signing in, or upload the image instead.',
  },
  image_invalid: {
    title: 'Invalid image',
    advice: `Use a ${formatsTextByKind.image} image within the model’s limits.`,
  },
  media_unreachable: {
    title: 'Couldn’t fetch a reference file',
    advice: 'Check that its URL opens without signing in, or upload the file instead.',
  },
  media_invalid: {
    title: 'Invalid reference file',
    advice: `Use an ${formatsTextByKind.video} video, or an ${formatsTextByKind.audio} file, within the model’s limits.`,
  },
  provider_rejected: {
    title: 'Request rejected',
    advice: 'No provider of this model accepts these parameters. Change them, then run it again.',
  },
  provider_unavailable: {
    title: 'Model unavailable',
    advice: 'All providers of this model failed or were busy. Try again later.',
  },
  timeout: { title: 'Timed out', advice: 'The video wasn’t ready in time. Run it again.' },
  result_invalid: {
    title: 'Invalid result',
    advice: 'The model didn’t return a valid video. Run it again.',
  },
  cancelled: { title: 'Cancelled', advice: 'The task was cancelled before it finished.' },
  terminated: {
    title: 'Stopped by an operator',
    advice: 'An operator ended this task. Contact support before you run it again.',
  },
  internal: {
    title: 'Internal error',
    advice: 'Run it again. If it fails again, contact support with the task ID.',
  },
};

export function describeFailCode(code: string): Failure {
  const known: Readonly<Record<string, Failure>> = failWords;
  return known[code] ?? { title: code, advice: 'Reload the page to learn more.' };
}

/** The table names every code. */
export const failCodes = Object.keys(failWords) as FailCode[];

type StepWord = { readonly now: string; readonly done: string; readonly tone: Tone };

const stepWords: Readonly<Record<TaskTimeline['steps'][number]['step'], StepWord>> = {
  accepted: { now: 'Accepted and charged', done: 'Accepted and charged', tone: 'calm' },
  waited: { now: 'Waiting in the queue', done: 'Waited in the queue', tone: 'calm' },
  generating: { now: 'Generating', done: 'Generated', tone: 'calm' },
  stored: { now: 'Storing the video', done: 'Stored', tone: 'calm' },
  succeeded: { now: 'Succeeded', done: 'Succeeded', tone: 'good' },
  failed: { now: 'Failed', done: 'Failed', tone: 'bad' },
  refunded: { now: 'Refunded in full', done: 'Refunded in full', tone: 'good' },
  partially_refunded: { now: 'Partially refunded', done: 'Partially refunded', tone: 'warn' },
  callback: { now: 'Sending the callback', done: 'Callback sent', tone: 'calm' },
};

export function describeTimelineStep(step: string): StepWord {
  const known: Readonly<Record<string, StepWord>> = stepWords;
  return known[step] ?? { now: step, done: step, tone: 'calm' };
}

type Difference = TaskDetail['operator']['differences'][number];
type JobOutcome = NonNullable<TaskDetail['operator']['providerJobs'][number]['outcome']>;

const jobWords: Readonly<Record<JobOutcome, WordAndTone>> = {
  success: { word: 'Succeeded', tone: 'good' },
  fail: { word: 'Failed', tone: 'bad' },
  not_created: { word: 'Not created', tone: 'calm' },
  refused: { word: 'Rejected', tone: 'warn' },
  abandoned: { word: 'Abandoned', tone: 'warn' },
  late_success: { word: 'Finished too late', tone: 'warn' },
};

export function wordAndToneOfJob({
  outcome,
  intendTime,
}: Pick<TaskDetail['operator']['providerJobs'][number], 'outcome' | 'intendTime'>): WordAndTone {
  if (outcome === null) return { word: intendTime === null ? 'Slot reserved' : 'Running', tone: 'live' };
  return wordAndToneOf(jobWords, outcome);
}

export const tasksText = {
  noun: ['task', 'tasks'],
  lead: 'Every video you requested, newest first.',
  leadOfOperators: 'Tasks of all accounts, newest first.',
  newVideo: 'New video',
  search: 'Prompt or task ID',
  searchId: 'Task ID',
  states: 'State',
  all: 'All',
  model: 'Model',
  allModels: 'All models',
  provider: 'Provider',
  allProviders: 'All providers',
  anyone: 'Any creator',
  onlyOf: (name: string) => `Show only tasks created by ${name}`,
  keyNamed: (name: string) => `Key ${name}`,
  createdByOne: (id: string) => `Created by ${id}`,
  customWeek: 'Custom dates, 7 days at most',
  csv: 'Export CSV',
  account: 'Account',
  created: 'Created',
  failure: 'Failure',
  anyFailure: 'Any failure',
  emptyTitle: 'No tasks yet',
  empty: 'Each video is one task. You’re charged when it’s accepted, and refunded in full if it fails.',
  emptyOfAccount: 'This account hasn’t created any tasks.',
  emptyOfAll: 'No account has created a task.',
  firstVideo: 'Create your first video',
  columns: {
    task: 'Task',
    state: 'State',
    model: 'Model',
    length: 'Length',
    credits: 'Credits',
    created: 'Created',
    createdBy: 'Created by',
  },
  costOf: (charged: number, refunded: number) => `${formatNumber(charged)} charged, ${formatNumber(refunded)} refunded`,

  task: 'Task',
  taskOf: (id: string) => `Task ${id}`,
  copyId: 'Copy task ID',
  notFoundTitle: 'Task not found',
  notFound: 'It doesn’t exist, or it belongs to another account. Switch accounts in the sidebar.',
  notFoundOfOperators: 'No account has a task with this ID. Check that you copied all of it.',
  seeAll: 'View all tasks',
  request: 'Request',
  withoutPrompt: '(no prompt)',
  deletedTitle: 'Content deleted',
  deleted: 'The task’s record and its ledger entries remain.',
  asJson: 'As JSON',

  cancel: 'Cancel',
  cancelTitle: 'Cancel this task?',
  cancelAction: 'Cancel task',
  keep: 'Keep task',
  cancelEffect: (charged: number) =>
    `Generation will stop, and ${formatCredits(charged)} will be refunded to your balance. You can’t resume the task.`,
  cancelEffectForOperators: (charged: number) =>
    `Generation will stop, ${formatCredits(charged)} will be refunded to the account, and its callback will be sent. The account doesn’t see your reason.`,
  cancelled: (refunded: number) => `Task cancelled, ${formatCredits(refunded)} refunded`,
  hadEnded: 'The task had already ended',
  cancelMany: (count: number) => (count === 1 ? 'Cancel 1 task' : `Cancel ${count} tasks`),
  cancelManyTitle: (count: number) => (count === 1 ? 'Cancel this task?' : `Cancel ${count} tasks?`),
  keepMany: 'Keep them',
  cancelManyEffect: (charged: number) =>
    `Generation will stop, and up to ${formatCredits(charged)} will be refunded to your balance. You can’t resume cancelled tasks.`,
  cancelManyEffectForOperators: (charged: number) =>
    `Generation will stop, up to ${formatCredits(charged)} will be refunded to the accounts, and callbacks will be sent. The accounts don’t see your reason.`,
  cancelledMany: (count: number) => (count === 1 ? '1 task cancelled' : `${count} tasks cancelled`),
  refundedMany: (refunded: number) => `${formatCredits(refunded)} refunded.`,
  notCancelled: (count: number) => (count === 1 ? '1 task wasn’t cancelled:' : `${count} tasks weren’t cancelled:`),
  endedBefore: (count: number, word: string) => `${count} had already ended: ${word.toLowerCase()}`,
  notFoundMany: (count: number) => `${count} not found`,
  download: 'Download',
  lastFrame: 'Last frame',
  runAgain: 'Run again',
  temporal: 'Temporal',
  remove: 'Delete content',
  removeTitle: 'Delete this task’s content?',
  removed: 'Content deleted',
  removeDeletes:
    'The prompt, images, video and poster, and the callback with its attempts. Links to the video stop working. This can’t be undone.',
  removeKeeps: 'The ID, model, length, times, state and price, and the ledger entries. Nothing is charged or refunded.',
  removeDeletesTitle: 'Deleted:',
  removeKeepsTitle: 'Not deleted:',

  videoDeleted: 'Video deleted',
  videoDeletedBecause: 'It’s no longer available. The record remains.',
  progress: 'Progress',
  generating: 'You can leave this page. The video keeps generating.',
  waiting: 'Generation starts automatically.',
  queued: 'Generation starts as soon as a slot is free.',
  ahead: (count: number) =>
    count === 1
      ? '1 of your tasks is ahead in the queue.'
      : `${formatNumber(count)} of your tasks are ahead in the queue.`,

  receipt: 'Receipt',
  charged: (entry: number) => `Charged, entry #${entry}`,
  refunded: (entry: number) => `Refunded in full, entry #${entry}`,
  netCost: 'Net cost',
  balanceAfter: 'Balance after the refund:',

  timeline: 'Timeline',
  callbackNotDelivered: 'Callback not delivered',
  difference: ({ kind, ordered, delivered }: Difference) =>
    kind === 'more'
      ? `More than ordered: ${delivered} instead of ${ordered}`
      : `Not as ordered: ${delivered} instead of ${ordered}`,

  details: 'Details',
  cost: 'Cost',
  price: 'Price',
  video: 'Video',
  sound: 'sound',
  silent: 'silent',
  file: 'File',
  generatedIn: (time: string) => `Generated in ${time}`,
  endedAfter: (time: string) => `Ended after ${time}`,
  ended: 'Ended',
  createdBy: 'Created by',
  apiKey: 'API key',
  person: 'person',
  availableUntil: 'Available until',
  ledger: 'Ledger',
  ledgerCaption: 'Ledger entries of this task',
  entry: 'Entry',
  balance: 'Balance',

  jobs: 'Upstream jobs',
  noJobs: 'No job has been sent to a provider yet.',
  outcome: 'Outcome',
  took: 'Duration',
  began: 'Started',
  noJobId: 'ID unknown',
  ownMachine: 'own worker',
  unknownCost: 'unknown',
  estimated: 'estimated',
} as const;
