import type { Icon } from '../ui/icon.ts';
import {
  Building2,
  ChartColumn,
  Clapperboard,
  Coins,
  Film,
  KeyRound,
  LayoutGrid,
  ScrollText,
  Server,
  Settings,
  Tags,
  Users,
  Webhook,
} from '../ui/icons.ts';
import { opsPaths, paths } from '../paths.ts';

/** A link of the sidebar, the palette and the shortcuts; `key` opens it after `g`. */
export type NavLink = { readonly href: string; readonly label: string; readonly icon: Icon; readonly key?: string };
export type NavGroup = { readonly title: string; readonly links: readonly NavLink[] };

/** Without the pages that belong to owners, for everyone else. */
export function accountNav(account: string, role: string | undefined): readonly NavGroup[] {
  const isOwner = role === 'owner';
  return [
    {
      title: 'Build',
      links: [
        { href: paths.overview(account), label: 'Overview', icon: LayoutGrid, key: 'o' },
        { href: paths.playground(account), label: 'Playground', icon: Clapperboard, key: 'p' },
        ...(isOwner ? [{ href: paths.keys(account), label: 'API keys', icon: KeyRound, key: 'k' }] : []),
      ],
    },
    {
      title: 'Monitor',
      links: [
        { href: paths.tasks(account), label: 'Tasks', icon: Film, key: 't' },
        { href: paths.credits(account), label: 'Credits', icon: Coins, key: 'c' },
        { href: paths.callbacks(account), label: 'Callbacks', icon: Webhook, key: 'w' },
      ],
    },
    {
      title: 'Configure',
      links: [
        { href: paths.members(account), label: 'Members', icon: Users },
        ...(isOwner ? [{ href: paths.settings(account), label: 'Settings', icon: Settings }] : []),
      ],
    },
  ];
}

export const operatorNav: readonly NavGroup[] = [
  {
    title: 'Operate',
    links: [
      { href: opsPaths.overview, label: 'Overview', icon: ChartColumn },
      { href: opsPaths.tasks, label: 'Tasks', icon: Film },
      { href: opsPaths.callbacks, label: 'Failed callbacks', icon: Webhook },
      { href: opsPaths.providers, label: 'Providers', icon: Server },
      { href: opsPaths.accounts, label: 'Accounts', icon: Building2 },
      { href: opsPaths.prices, label: 'Prices', icon: Tags },
      { href: opsPaths.codes, label: 'Codes', icon: Coins },
      { href: opsPaths.people, label: 'People', icon: Users },
      { href: opsPaths.audit, label: 'Audit log', icon: ScrollText },
    ],
  },
];
