/** How the fake paid upstream takes one task: how it answers the create, the polls, the end and a cancellation. */
export type Manner = {
  /** A job is made in every case but `refuse`, which makes none for the first two creates. */
  readonly create: 'plain' | 'twice' | '500' | 'cut' | 'hang' | 'refuse';
  readonly poll: 'plain' | 'stumble' | 'hang';
  /** From the create to the end of the job; Infinity for a job that only a cancellation ends. */
  readonly seconds: number;
  readonly end: 'success' | 'failure' | 'failure, success' | 'success, failure' | 'other address' | 'other bytes';
  readonly obeysCancel: boolean;
};

const plain: Manner = { create: 'plain', poll: 'plain', seconds: 1, end: 'success', obeysCancel: true };

export const manners = {
  'answers in time': plain,
  'is slow': { ...plain, seconds: 9 },
  'answers 500 to a create that made a job': { ...plain, create: '500', seconds: 3 },
  'cuts off a create that made a job': { ...plain, create: 'cut', seconds: 3 },
  'hangs on a create that made a job': { ...plain, create: 'hang', seconds: 9 },
  'answers a create twice': { ...plain, create: 'twice' },
  'refuses two creates with 429': { ...plain, create: 'refuse' },
  'answers polls with 429, 500 and nothing': { ...plain, poll: 'stumble', seconds: 3 },
  'hangs on a poll': { ...plain, poll: 'hang', seconds: 2 },
  'says that the job failed': { ...plain, end: 'failure' },
  'reports failure, then success': { ...plain, end: 'failure, success' },
  'reports success, then failure': { ...plain, end: 'success, failure' },
  'reports success twice, with other videos': { ...plain, end: 'other address' },
  'serves a video twice, with other bytes': { ...plain, end: 'other bytes' },
  'succeeds after the deadline': { ...plain, seconds: 14, obeysCancel: false },
  'never ends': { ...plain, seconds: Infinity },
} as const satisfies Readonly<Record<string, Manner>>;

export type MannerName = keyof typeof manners;

/** The manner is asked for in the prompt, in double round brackets. */
export function mannerWord(name: MannerName): string {
  return `((${name}))`;
}

/** What a prompt asks for; plain behaviour when it asks for nothing that is known. */
export function mannerIn(prompt: string): MannerName {
  const asked = /\(\((?<name>.+?)\)\)/.exec(prompt)?.groups?.['name'];
  return isMannerName(asked) ? asked : 'answers in time';
}

function isMannerName(name: string | undefined): name is MannerName {
  return name !== undefined && Object.hasOwn(manners, name);
}
