import { Building2, ScrollText, Server } from './icons.ts';
import { ChartColumn, Coins, Film, Users, Webhook } from '../../ui/icons.ts';
import { opsPaths } from '../../paths.ts';
import type { NavLink } from '../../shell/nav.ts';

/** The sidebar of the operators, in reading order. Everybody loads it, so it has the pictures of the other sidebar where it can. */
export const operatorLinks: readonly NavLink[] = [
  { href: opsPaths.overview, label: 'Overview', icon: ChartColumn },
  { href: opsPaths.tasks, label: 'Tasks', icon: Film },
  { href: opsPaths.callbacks, label: 'Failed callbacks', icon: Webhook },
  { href: opsPaths.providers, label: 'Providers', icon: Server },
  { href: opsPaths.accounts, label: 'Accounts', icon: Building2 },
  { href: opsPaths.prices, label: 'Prices', icon: Coins },
  { href: opsPaths.people, label: 'People', icon: Users },
  { href: opsPaths.audit, label: 'Audit log', icon: ScrollText },
];
