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
  /** The playground with this model chosen. */
  playgroundOf: (account: string, model: string) =>
    `${inAccount(account)}/playground?model=${encodeURIComponent(model)}`,
  models: (account: string) => `${inAccount(account)}/models`,
  model: (account: string, model: string) => `${inAccount(account)}/models/${encodeURIComponent(model)}`,
  gallery: (account: string) => `${inAccount(account)}/gallery`,
  tasks: (account: string) => `${inAccount(account)}/tasks`,
  task: (account: string, taskId: string) => `${inAccount(account)}/tasks/${encodeURIComponent(taskId)}`,
  credits: (account: string) => `${inAccount(account)}/credits`,
  callbacks: (account: string) => `${inAccount(account)}/callbacks`,
  webhooks: (account: string) => `${inAccount(account)}/webhooks`,
  requests: (account: string) => `${inAccount(account)}/requests`,
  usage: (account: string) => `${inAccount(account)}/usage`,
  keys: (account: string) => `${inAccount(account)}/keys`,
  members: (account: string) => `${inAccount(account)}/members`,
  limits: (account: string) => `${inAccount(account)}/limits`,
  settings: (account: string) => `${inAccount(account)}/settings`,
  /** A person's own pages, in the frame of the account they came from. */
  profile: (account: string) => `${inAccount(account)}/profile`,
  security: (account: string) => `${inAccount(account)}/security`,
} as const;

/** Pages of operators belong to no account. */
export const opsPaths = {
  overview: '/ops',
  accounts: '/ops/accounts',
  account: (accountId: string) => `/ops/accounts/${encodeURIComponent(accountId)}`,
  prices: '/ops/prices',
  codes: '/ops/codes',
  payments: '/ops/payments',
  providers: '/ops/providers',
  waiting: '/ops/waiting',
  catalogue: '/ops/catalogue',
  tasks: '/ops/tasks',
  task: (taskId: string) => `/ops/tasks/${encodeURIComponent(taskId)}`,
  callbacks: '/ops/callbacks',
  audit: '/ops/audit',
  people: '/ops/people',
  profile: '/ops/profile',
  security: '/ops/security',
} as const;

/** Files that a browser opens in a tab or saves, with the console's base. */
export const statementPath = (account: string, month: string, format: 'html' | 'csv') =>
  `/console${inAccount(account)}/statements/${month}.${format}`;

/** Outside of the console. */
export const docsPath = '/docs';
