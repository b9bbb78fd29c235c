import { type AccountPageName, accountPages, type OperatorPageName, operatorPages } from './pages.ts';

// Every address of the console below its base `/console`.

export const signInPaths = {
  signIn: '/sign-in',
  setup: '/setup',
  invite: '/invite',
  reset: '/reset',
  signUp: '/sign-up',
  confirm: '/confirm',
} as const;

/** The address of an area, below which its pages are. */
export const areaRoot = (account: string | undefined) => (account === undefined ? '/ops' : `/a/${account}`);

// `fromEntries` does not keep the names.
const pagePaths = Object.fromEntries(
  Object.entries(accountPages).map(([name, { path }]) => [name, (account: string) => `${areaRoot(account)}${path}`]),
) as Readonly<Record<AccountPageName, (account: string) => string>>;
const operatorPagePaths = Object.fromEntries(
  Object.entries(operatorPages).map(([name, { path }]) => [name, `${areaRoot(undefined)}${path}`]),
) as Readonly<Record<OperatorPageName, string>>;

const within = (list: string, id: string) => `${list}/${encodeURIComponent(id)}`;

/** Pages of an account, and those of one task or model. */
export const accountPaths = {
  ...pagePaths,
  model: (account: string, model: string) => within(pagePaths.models(account), model),
  task: (account: string, taskId: string) => within(pagePaths.tasks(account), taskId),
  /** The playground with the request of this task. */
  playgroundFrom: (account: string, taskId: string) =>
    `${pagePaths.playground(account)}?from=${encodeURIComponent(taskId)}`,
  /** The playground with this model chosen. */
  playgroundOf: (account: string, model: string) =>
    `${pagePaths.playground(account)}?model=${encodeURIComponent(model)}`,
} as const;

/** Pages of operators, and those of one account or task. */
export const operatorPaths = {
  ...operatorPagePaths,
  account: (accountId: string) => within(operatorPagePaths.accounts, accountId),
  task: (taskId: string) => within(operatorPagePaths.tasks, taskId),
} as const;

/** Files that a browser opens in a tab or saves, with the console's base. */
export const statementPath = (account: string, month: string, format: 'html' | 'csv') =>
  `/console${areaRoot(account)}/statements/${month}.${format}`;

/** Outside of the console. */
export const docsPath = '/docs';
