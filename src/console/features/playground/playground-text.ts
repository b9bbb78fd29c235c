import { formatsTextByKind, type UploadKind } from '../../../media/references/upload-limits-and-addresses.ts';
import { formatCredits, formatNumber } from '../../ui/number-formats.tsx';
import { maxVariants } from './draft/draft.ts';

// Every text of the playground.

const theseVideos = (count: number) => (count === 1 ? 'this video' : `these ${count} videos`);

export const playgroundText = {
  lead: 'Describe a video, check its price, and watch it being generated.',
  form: 'Video',
  model: 'Model',
  noModel: 'This service offers no models.',
  callback: 'Callback',
  callbackHint: 'The signed record is posted to this URL when the task ends, and retried for up to three days.',
  moreOptions: 'More options',
  promptExample: 'A lighthouse in a storm, seen from the sea, slow dolly in',
  charactersLeft: (left: number) => `${formatNumber(left)} left`,
  automatic: 'Automatic',
  random: 'Random',
  seconds: (text: string) => `${text} seconds`,
  needs: (fields: string) => `Requires: ${fields}.`,
  excludes: (fields: string) => `Can’t be combined with: ${fields}.`,
  blocked: (fields: string) => `Can’t be combined with: ${fields}. Remove that first.`,
  required: 'Required.',
  optional: 'Optional.',
  optionalUpTo: (max: number) => `Optional, up to ${max}.`,
  exactly: (count: number) => `Exactly ${count}.`,
  between: (min: number, max: number) => `${min} to ${max}.`,

  formats: formatsTextByKind satisfies Readonly<Record<UploadKind, string>>,
  aFile: { image: 'an image', video: 'a video', audio: 'an audio file' } satisfies Readonly<Record<UploadKind, string>>,
  sizeLimit: (formats: string, megabytes: number) => `${formats}, up to ${megabytes}\u00A0MB each.`,
  atMost: (max: number) => `At most ${max}`,
  notOfKind: (file: string, kind: string) => `${file} isn’t ${kind}`,
  tooLarge: (file: string, megabytes: number) => `${file} is larger than ${megabytes} MB`,
  notAll: (taken: number, count: number) => `${count} files chosen, but only ${taken} can be added`,
  uploading: 'Wait until the upload has finished',
  urlNotAdded: 'Add or clear the URL you typed',
  noFieldFor: 'This model doesn’t take such a file',
  upload: 'Upload',
  byUrl: 'By URL',
  dropHere: 'or drop or paste a file',
  filesOf: (field: string) => `Files of ${field}`,
  urlOf: (kind: string) => `URL of ${kind}`,
  add: 'Add',
  remove: (kind: string, position: number) => `Remove ${kind} ${position}`,

  uploaded: { image: 'Uploaded image', video: 'Uploaded video', audio: 'Uploaded audio file' } satisfies Readonly<
    Record<UploadKind, string>
  >,
  expired: (file: string) => `${file} (expired, upload it again)`,

  variants: 'Variants',
  variantChoice: { 1: '1', 2: '2', 3: '3', 4: '4', models: 'By model' },
  variantHint: {
    seeds: 'One task per seed, each charged separately.',
    repeats: 'This model takes no seed. Each task is charged separately.',
    models: 'One task per model, each charged separately.',
  },
  compareWith: 'Compare with',
  atMostModels: `At most ${maxVariants} models`,
  variant: (position: number) => `Video ${position}`,
  seed: (seed: unknown) => `Seed ${String(seed)}`,
  without: (field: string) => `without ${field.toLowerCase()}`,
  shortened: (field: string) => `${field.toLowerCase()} shortened`,
  prices: 'Price per video',

  generate: 'Generate',
  generateMany: (count: number) => `Generate ${count} videos`,
  noPrice: 'This input has no price yet',
  tooExpensive: (count: number) => `Your balance doesn’t cover ${theseVideos(count)}`,
  topUp: (balance: number, count: number) =>
    `Your balance of ${formatCredits(balance)} doesn’t cover ${theseVideos(count)}.`,
  ownersAdd: 'Ask an owner of this account to add credits.',
  buyCredits: 'Buy credits',
  contactSupport: 'Contact support to add credits.',
  remaining: (left: number) => `${formatCredits(left)} remaining`,
  priceFrom: 'From',
  accepted: (count: number) => (count === 1 ? 'Task accepted' : `${count} tasks accepted`),

  result: 'Result',
  results: 'Results',
  done: (done: number, count: number) => `${done}/${count} done`,
  doneOf: (done: number, count: number) => `${done} of ${count} done`,
  clear: 'Clear',
  partlyTitle: (refused: number, count: number) => `${refused} of ${count} videos not started`,
  partly: (accepted: number, charged: number) =>
    `You were charged ${formatCredits(charged)} for the ${accepted === 1 ? 'video that was' : `${accepted} videos that were`} started.`,
  notCharged: 'Not charged.',
  checkTasks: 'The video may have been started. Check Tasks before you generate it again.',
  retry: 'Try again',
  took: (time: string, hasSucceeded: boolean) => `${hasSucceeded ? 'in' : 'after'} ${time}`,
  running: (time: string) => `${time} so far`,
  refunded: 'refunded',

  runAgain: 'Run again',
  sameInput: 'Same input',
  newSeed: 'New seed',
  edit: 'Edit in the form',
  modelMissing: 'This model isn’t available now',
  notAvailable: (title: string) => `${title} (not available)`,
  chooseAnother: 'This model isn’t available now. Choose another one.',
  contentDeleted: 'The content of this task was deleted',

  playback: 'Playback of all videos',
  play: 'Play all',
  pause: 'Pause all',
  position: 'Position',
  positionOf: (seconds: string, length: string) => `${seconds} of ${length} seconds`,
  keys: 'Space plays and pauses, arrow keys seek, M turns sound on and off.',
  soundOn: (label: string) => `Turn on the sound of ${label}`,
  soundOff: (label: string) => `Turn off the sound of ${label}`,

  notify: 'Notify me',
  notifyOn: 'Notifications on',
  notifyBlocked: 'Your browser blocks notifications of this site. Allow them in its settings.',
  notifiedTitle: (succeeded: number, count: number) =>
    count === 1
      ? succeeded === 1
        ? 'Your video is ready'
        : 'Your video failed and was refunded'
      : `${succeeded} of ${count} videos are ready`,
  notifiedBody: (failed: number) =>
    failed === 0 ? '' : `${failed} failed and ${failed === 1 ? 'was' : 'were'} refunded.`,

  history: 'History',
  historyHint: 'Click an entry to fill in the form.',
  historyEmpty: 'Your latest prompts appear here.',
  historyItem: (model: string, seconds: number) => `${model} · ${seconds}\u00A0s`,

  emptyTitle: 'Your video appears here',
  empty: 'You’re charged when the task is accepted. Failed tasks are refunded automatically.',
  toTask: 'View task',
  record: 'Task record (JSON)',
  code: 'Code',
  firstPrompt: 'A lighthouse in the fog',
} as const;
