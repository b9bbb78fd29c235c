import type { Icon } from './ui/controls/icon.ts';
import {
  Activity,
  Bell,
  BookOpen,
  Building2,
  ChartColumn,
  CircleUser,
  Clapperboard,
  Coins,
  CreditCard,
  Film,
  Gauge,
  Hourglass,
  Images,
  KeyRound,
  Layers,
  LayoutGrid,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  Tags,
  Users,
  Webhook,
} from './ui/controls/icons.ts';

// Every page is declared here, in the order of the sidebar. Its address, title, link and shortcut derive from this; what it shows
// stands under the same name in account-pages.tsx or operator-pages.tsx.

export type PageDeclaration = {
  /** Follows the address of its area. */
  readonly path: string;
  /** In the heading, the browser's tab, the sidebar and the palette. */
  readonly title: string;
  readonly icon: Icon;
  /** The group of the sidebar. A person's own pages are in their menu instead. */
  readonly section?: 'Build' | 'Monitor' | 'Configure' | 'Operate';
  /** Opens the page after `g`. */
  readonly key?: string;
  readonly isForOwners?: boolean;
  /** The palette finds the page by these, too. */
  readonly words?: string;
};

/** Pages of a person rather than an account, in the frame of the area that they came from. */
export const personalPages = {
  profile: { path: '/profile', title: 'Profile', icon: CircleUser },
  security: { path: '/security', title: 'Security', icon: ShieldCheck },
} satisfies Record<string, PageDeclaration>;

/** The pages of an account, below `/a/<account>`. */
export const accountPages = {
  overview: { path: '', title: 'Overview', icon: LayoutGrid, section: 'Build', key: 'o' },
  playground: {
    path: '/playground',
    title: 'Playground',
    icon: Clapperboard,
    section: 'Build',
    key: 'p',
    words: 'new',
  },
  gallery: { path: '/gallery', title: 'Gallery', icon: Images, section: 'Build', key: 'v', words: 'videos' },
  models: { path: '/models', title: 'Models', icon: Layers, section: 'Build', key: 'm', words: 'prices' },
  keys: { path: '/keys', title: 'API keys', icon: KeyRound, section: 'Build', key: 'k', isForOwners: true },
  tasks: { path: '/tasks', title: 'Tasks', icon: Film, section: 'Monitor', key: 't', words: 'jobs' },
  usage: { path: '/usage', title: 'Usage', icon: ChartColumn, section: 'Monitor', key: 'u', words: 'statistics' },
  credits: { path: '/credits', title: 'Credits', icon: Coins, section: 'Monitor', key: 'c', words: 'balance billing' },
  callbacks: { path: '/callbacks', title: 'Callbacks', icon: Webhook, section: 'Monitor', key: 'w' },
  webhooks: { path: '/webhooks', title: 'Webhooks', icon: Bell, section: 'Monitor', words: 'events endpoint' },
  requests: { path: '/requests', title: 'Requests', icon: Activity, section: 'Monitor', key: 'r', words: 'api log' },
  members: { path: '/members', title: 'Members', icon: Users, section: 'Configure', words: 'team invite' },
  limits: { path: '/limits', title: 'Limits', icon: Gauge, section: 'Configure', words: 'quota' },
  settings: { path: '/settings', title: 'Settings', icon: Settings, section: 'Configure', isForOwners: true },
  ...personalPages,
} satisfies Record<string, PageDeclaration>;

/** The pages of operators, below `/ops`. They belong to no account. */
export const operatorPages = {
  overview: { path: '', title: 'Overview', icon: ChartColumn, section: 'Operate' },
  waiting: { path: '/waiting', title: 'Waiting', icon: Hourglass, section: 'Operate' },
  tasks: { path: '/tasks', title: 'Tasks', icon: Film, section: 'Operate' },
  callbacks: { path: '/callbacks', title: 'Failed callbacks', icon: Webhook, section: 'Operate' },
  providers: { path: '/providers', title: 'Providers', icon: Server, section: 'Operate' },
  catalogue: { path: '/catalogue', title: 'Catalogue', icon: BookOpen, section: 'Operate' },
  accounts: { path: '/accounts', title: 'Accounts', icon: Building2, section: 'Operate' },
  prices: { path: '/prices', title: 'Prices', icon: Tags, section: 'Operate' },
  codes: { path: '/codes', title: 'Redemption codes', icon: Coins, section: 'Operate' },
  payments: { path: '/payments', title: 'Payments', icon: CreditCard, section: 'Operate' },
  people: { path: '/people', title: 'People', icon: Users, section: 'Operate' },
  audit: { path: '/audit', title: 'Audit log', icon: ScrollText, section: 'Operate' },
  ...personalPages,
} satisfies Record<string, PageDeclaration>;

export type AccountPageName = keyof typeof accountPages;
export type OperatorPageName = keyof typeof operatorPages;
