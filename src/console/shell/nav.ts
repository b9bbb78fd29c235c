import type { Icon } from '../ui/icon.ts';
import {
  Bell,
  Activity,
  BookOpen,
  Building2,
  ChartColumn,
  Clapperboard,
  Coins,
  CreditCard,
  Film,
  Gauge,
  Images,
  Hourglass,
  KeyRound,
  Layers,
  LayoutGrid,
  ScrollText,
  Server,
  Settings,
  Tags,
  Users,
  Webhook,
} from '../ui/icons.ts';
import { opsPaths, paths } from '../paths.ts';
import { shellText } from './shell-text.ts';

const words = shellText.nav;

/** A link of the sidebar, the palette and the shortcuts; `key` opens it after `g`. */
export type NavLink = { readonly href: string; readonly label: string; readonly icon: Icon; readonly key?: string };
export type NavGroup = { readonly title: string; readonly links: readonly NavLink[] };

/** Without the pages that belong to owners, for everyone else. */
export function accountNav(account: string, role: string | undefined): readonly NavGroup[] {
  const isOwner = role === 'owner';
  return [
    {
      title: words.build,
      links: [
        { href: paths.overview(account), label: words.overview, icon: LayoutGrid, key: 'o' },
        { href: paths.playground(account), label: words.playground, icon: Clapperboard, key: 'p' },
        { href: paths.gallery(account), label: words.gallery, icon: Images, key: 'v' },
        { href: paths.models(account), label: words.models, icon: Layers, key: 'm' },
        ...(isOwner ? [{ href: paths.keys(account), label: words.keys, icon: KeyRound, key: 'k' }] : []),
      ],
    },
    {
      title: words.monitor,
      links: [
        { href: paths.tasks(account), label: words.tasks, icon: Film, key: 't' },
        { href: paths.usage(account), label: words.usage, icon: ChartColumn, key: 'u' },
        { href: paths.credits(account), label: words.credits, icon: Coins, key: 'c' },
        { href: paths.callbacks(account), label: words.callbacks, icon: Webhook, key: 'w' },
        { href: paths.webhooks(account), label: words.webhooks, icon: Bell },
        { href: paths.requests(account), label: words.requests, icon: Activity, key: 'r' },
      ],
    },
    {
      title: words.configure,
      links: [
        { href: paths.members(account), label: words.members, icon: Users },
        { href: paths.limits(account), label: words.limits, icon: Gauge },
        ...(isOwner ? [{ href: paths.settings(account), label: words.settings, icon: Settings }] : []),
      ],
    },
  ];
}

export const operatorNav: readonly NavGroup[] = [
  {
    title: words.operate,
    links: [
      { href: opsPaths.overview, label: words.overview, icon: ChartColumn },
      { href: opsPaths.waiting, label: words.waiting, icon: Hourglass },
      { href: opsPaths.tasks, label: words.tasks, icon: Film },
      { href: opsPaths.callbacks, label: words.failedCallbacks, icon: Webhook },
      { href: opsPaths.providers, label: words.providers, icon: Server },
      { href: opsPaths.catalogue, label: words.catalogue, icon: BookOpen },
      { href: opsPaths.accounts, label: shellText.accounts, icon: Building2 },
      { href: opsPaths.prices, label: words.prices, icon: Tags },
      { href: opsPaths.codes, label: words.codes, icon: Coins },
      { href: opsPaths.payments, label: words.payments, icon: CreditCard },
      { href: opsPaths.people, label: words.people, icon: Users },
      { href: opsPaths.audit, label: words.audit, icon: ScrollText },
    ],
  },
];
