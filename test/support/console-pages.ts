/** The pages of an account, below its address. */
export const accountPages = {
  overview: '',
  playground: '/playground',
  gallery: '/gallery',
  models: '/models',
  tasks: '/tasks',
  credits: '/credits',
  purchases: '/credits?tab=purchases',
  statements: '/credits?tab=statements',
  callbacks: '/callbacks',
  webhooks: '/webhooks',
  requests: '/requests',
  usage: '/usage',
  keys: '/keys',
  members: '/members',
  limits: '/limits',
  settings: '/settings',
  profile: '/profile',
  security: '/security',
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
  'ops-payments': '/ops/payments',
  'ops-providers': '/ops/providers',
  'ops-waiting': '/ops/waiting',
  'ops-catalogue': '/ops/catalogue',
  'ops-tasks': '/ops/tasks',
  'ops-callbacks': '/ops/callbacks',
  'ops-audit': '/ops/audit',
  'ops-people': '/ops/people',
  'ops-events': '/ops/people?tab=events',
  'ops-profile': '/ops/profile',
  'ops-security': '/ops/security',
} as const;
