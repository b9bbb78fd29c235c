import type { UploadKind } from '../../../media/upload.ts';
import { credits, number } from '../../ui/money.tsx';

// Every text of the playground.

export const playgroundText = {
  title: 'Playground',
  lead: 'Describe a video, check its price, and watch it being generated.',
  form: 'Video',
  model: 'Model',
  noModel: 'This service offers no models.',
  callback: 'Callback',
  callbackHint: 'The signed record is posted to this URL when the task ends, and retried for up to three days.',
  moreOptions: 'More options',
  promptExample: 'A lighthouse in a storm, seen from the sea, slow dolly in',
  charactersLeft: (left: number) => `${number(left)} left`,
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

  formats: {
    image: 'JPEG, PNG or WebP',
    video: 'MP4, MOV or WebM',
    audio: 'MP3, WAV or M4A',
  } satisfies Readonly<Record<UploadKind, string>>,
  aFile: { image: 'an image', video: 'a video', audio: 'an audio file' } satisfies Readonly<Record<UploadKind, string>>,
  sizeLimit: (formats: string, megabytes: number) => `${formats}, up to ${megabytes}\u00A0MB each.`,
  atMost: (max: number) => `At most ${max}`,
  notOfKind: (file: string, kind: string) => `${file} isn’t ${kind}`,
  tooLarge: (file: string, megabytes: number) => `${file} is larger than ${megabytes} MB`,
  noFieldFor: 'This model doesn’t take such a file',
  upload: 'Upload',
  byUrl: 'By URL',
  dropHere: 'or drop or paste a file',
  filesOf: (field: string) => `Files of ${field}`,
  urlOf: (kind: string) => `URL of ${kind}`,
  add: 'Add',
  remove: (kind: string, position: number) => `Remove ${kind} ${position}`,

  generate: 'Generate',
  noPrice: 'This input has no price yet',
  tooExpensive: 'Your balance doesn’t cover this video',
  topUp: (balance: number) =>
    `Your balance of ${credits(balance)} doesn’t cover this video. Contact support to add credits.`,
  remaining: (left: number) => `${credits(left)} remaining`,
  priceFrom: 'From',
  accepted: 'Task accepted',

  result: 'Result',
  emptyTitle: 'Your video appears here',
  empty: 'You’re charged when the task is accepted. Failed tasks are refunded automatically.',
  toTask: 'View task',
  record: 'Task record (JSON)',
  code: 'Code',
  firstPrompt: 'A lighthouse in the fog',
} as const;
