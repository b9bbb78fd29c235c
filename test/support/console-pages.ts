/** The pages of an account, below its address. */
export const accountPages = {
  overview: '',
  playground: '/playground',
  tasks: '/tasks',
  credits: '/credits',
  callbacks: '/callbacks',
  keys: '/keys',
  members: '/members',
  settings: '/settings',
  profile: '/profile',
} as const;

export const windows = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
} as const;

/** The pages of operators. */
export const operatorPages = {
  'ops-overview': '/ops',
  'ops-accounts': '/ops/accounts',
  'ops-prices': '/ops/prices',
  'ops-providers': '/ops/providers',
  'ops-waiting': '/ops/waiting',
  'ops-catalogue': '/ops/catalogue',
  'ops-tasks': '/ops/tasks',
  'ops-callbacks': '/ops/callbacks',
  'ops-audit': '/ops/audit',
  'ops-people': '/ops/people',
  'ops-events': '/ops/people?tab=events',
  'ops-profile': '/ops/profile',
} as const;
