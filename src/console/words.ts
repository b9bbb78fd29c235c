import type { TaskRecord } from './api/contract.ts';
import { failOutcome, type FailOutcome } from '../tasks/fail-code.ts';
import type { Tone } from './ui/badge.tsx';

type TaskState = TaskRecord['state'];
type FailCode = NonNullable<TaskRecord['failCode']>;
type Word = { readonly word: string; readonly tone: Tone };

function keysOf<Key extends string>(words: Readonly<Record<Key, unknown>>): readonly Key[] {
  // Of an object that is written out here.
  return Object.keys(words) as Key[];
}

/**
 * A tab stays open while the service is upgraded, so it must show names that are newer than its code: as they are. The functions below
 * look words up; the tables serve lists of choices.
 */
function wordOf<Known>(words: Readonly<Record<string, Known>>, name: string, unknown: Known): Known {
  return words[name] ?? unknown;
}

export const stateWords: Readonly<Record<TaskState, Word>> = {
  waiting: { word: 'Waiting', tone: 'calm' },
  queuing: { word: 'In queue', tone: 'calm' },
  generating: { word: 'Generating', tone: 'live' },
  success: { word: 'Succeeded', tone: 'good' },
  fail: { word: 'Failed', tone: 'bad' },
};

const outcomeWords: Readonly<Record<FailOutcome, Word>> = {
  cancelled: { word: 'Cancelled', tone: 'calm' },
  rejected: { word: 'Rejected', tone: 'calm' },
  failed: stateWords.fail,
};

/** A cancelled task, or one whose input was rejected, is not shown as failed. */
export function taskWord({ state, failCode }: { readonly state: string; readonly failCode: string | null }): Word {
  if (state === 'fail' && failCode !== null) return outcomeWords[failOutcome(failCode)];
  return wordOf(stateWords, state, { word: state, tone: 'calm' });
}

type TaskFilter = {
  /** In the address. */
  readonly value: string;
  readonly label: string;
  readonly query: { readonly state: Exclude<TaskState, 'fail'> } | { readonly outcome: FailOutcome };
};

const unfailedStates = ['waiting', 'queuing', 'generating', 'success'] as const;

/** Choices of lists of tasks, by the words that the lists show. */
export const taskFilters: readonly TaskFilter[] = [
  ...unfailedStates.map((state) => ({ value: state, label: stateWords[state].word, query: { state } })),
  ...(['failed', 'cancelled', 'rejected'] as const).map((outcome) => ({
    value: outcome,
    label: outcomeWords[outcome].word,
    query: { outcome },
  })),
];

/** Why a task failed, and what helps. */
export const failWords: Readonly<Record<FailCode, { readonly title: string; readonly advice: string }>> = {
  content_rejected: {
    title: 'The content was rejected',
    advice: 'The model refused the prompt, an image, a video or an audio file. Change it, then run it again.',
  },
  image_unreachable: {
    title: 'An image could not be fetched',
    advice: 'Check that its URL opens without signing in, or upload the image instead.',
  },
  image_invalid: {
    title: 'An image could not be used',
    advice: 'Give a JPEG, PNG or WebP image within the limits of the model.',
  },
  media_unreachable: {
    title: 'A reference video or audio file could not be fetched',
    advice: 'Check that its URL opens without signing in, or upload the file instead.',
  },
  media_invalid: {
    title: 'A reference video or audio file could not be used',
    advice: 'Give an MP4, MOV or WebM video, or an MP3, WAV or M4A file, within the limits of the model.',
  },
  provider_rejected: {
    title: 'The request was rejected',
    advice: 'No provider of this model takes the request as it is. Change its parameters.',
  },
  provider_unavailable: {
    title: 'The model was not available',
    advice: 'All providers of this model failed or were busy. Run it again later.',
  },
  timeout: { title: 'It took too long', advice: 'The video was not finished in time. Run it again.' },
  result_invalid: {
    title: 'The result could not be used',
    advice: 'What was generated is no valid video. Run it again; nothing was charged for this one.',
  },
  cancelled: { title: 'Cancelled', advice: 'It was stopped on request before it was finished.' },
  terminated: {
    title: 'Stopped by an operator',
    advice: 'An operator ended the task. Ask them before you run it again.',
  },
  internal: {
    title: 'A fault of the service',
    advice: 'It was logged. Run it again; if it fails again, tell an operator the id.',
  },
};

export function failWord(code: string): (typeof failWords)[FailCode] {
  return wordOf(failWords, code, { title: code, advice: 'Reload this page to read more about it.' });
}

export const failCodes = keysOf(failWords);

export const ledgerWords = {
  grant: 'Grant',
  charge: 'Charge',
  refund: 'Refund',
  adjustment: 'Adjustment',
} as const;

export function ledgerWord(kind: string): string {
  return wordOf<string>(ledgerWords, kind, kind);
}

export const callbackWords: Readonly<Record<'pending' | 'delivered' | 'failed' | 'rejected', Word>> = {
  pending: { word: 'Pending', tone: 'live' },
  delivered: { word: 'Delivered', tone: 'good' },
  failed: { word: 'Failed', tone: 'bad' },
  rejected: { word: 'Refused for good', tone: 'warn' },
};

export function callbackWord(state: string): Word {
  return wordOf(callbackWords, state, { word: state, tone: 'calm' });
}

export const roleWords = {
  owner: { word: 'Owner', can: 'Everything, also keys and members' },
  member: { word: 'Member', can: 'Creates tasks, sees everything except keys' },
  viewer: { word: 'Viewer', can: 'Sees tasks and credits' },
} as const;

export type Role = keyof typeof roleWords;

export function roleWord(role: string): string {
  return wordOf<{ readonly word: string }>(roleWords, role, { word: role }).word;
}

export const scopeWords = {
  'tasks:write': 'Create and cancel tasks',
  'tasks:read': 'Read tasks and videos',
  'credits:read': 'Read balance and ledger',
  'callbacks:secret': 'Reveal and rotate the callback signing secret',
  'content:delete': 'Delete the content of tasks',
  'keys:write': 'Create and revoke keys',
} as const;

const ratioWords: Readonly<Record<string, string>> = {
  adaptive: 'Auto',
};

const fieldWords: Readonly<Record<string, string>> = {
  duration: 'Length',
  ratio: 'Shape',
  generateAudio: 'Sound',
  imageUrls: 'Reference images',
  videoUrls: 'Reference videos',
  audioUrls: 'Reference audio',
};

/** The label of a field of `input`, also of one that is newer than this code: `cameraFixed` is "Camera fixed". */
export function fieldWord(name: string): string {
  const words = name.replace(/Urls?$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return fieldWords[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value of a field, other than a URL. */
export function valueWord(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  const text = String(value);
  return name === 'duration' ? `${text}\u00A0s` : (ratioWords[text] ?? text);
}
