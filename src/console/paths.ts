/** Every address of the console below its base `/console`, written here alone. */
export const signInPaths = {
  signIn: '/sign-in',
  setUp: '/setup',
  invite: '/invite',
  reset: '/reset',
  signUp: '/sign-up',
  confirm: '/confirm',
} as const;

const inAccount = (account: string) => `/a/${account}`;

export const paths = {
  overview: (account: string) => inAccount(account),
  playground: (account: string, from?: string) =>
    `${inAccount(account)}/playground${from === undefined ? '' : `?from=${encodeURIComponent(from)}`}`,
  tasks: (account: string) => `${inAccount(account)}/tasks`,
  task: (account: string, taskId: string) => `${inAccount(account)}/tasks/${encodeURIComponent(taskId)}`,
  credits: (account: string) => `${inAccount(account)}/credits`,
  callbacks: (account: string) => `${inAccount(account)}/callbacks`,
  keys: (account: string) => `${inAccount(account)}/keys`,
  members: (account: string) => `${inAccount(account)}/members`,
  settings: (account: string) => `${inAccount(account)}/settings`,
  /** A person's own page, in the frame of the account they came from. */
  profile: (account: string) => `${inAccount(account)}/profile`,
} as const;

/** Pages of operators belong to no account. */
export const opsPaths = {
  overview: '/ops',
  accounts: '/ops/accounts',
  account: (accountId: string) => `/ops/accounts/${encodeURIComponent(accountId)}`,
  prices: '/ops/prices',
  codes: '/ops/codes',
  providers: '/ops/providers',
  waiting: '/ops/waiting',
  catalogue: '/ops/catalogue',
  tasks: '/ops/tasks',
  task: (taskId: string) => `/ops/tasks/${encodeURIComponent(taskId)}`,
  callbacks: '/ops/callbacks',
  audit: '/ops/audit',
  people: '/ops/people',
  profile: '/ops/profile',
} as const;

/** Outside of the console. */
export const docsPath = '/docs';
