import { BellRing, ChartColumn, Film, Building2, ScrollText, Server, Tags, Users } from 'lucide-preact';
import { opsPaths } from '../../paths.ts';
import type { NavLink } from '../../shell/nav.ts';

/** The sidebar of the operators, in reading order. */
export const operatorLinks: readonly NavLink[] = [
  { href: opsPaths.overview, label: 'Overview', icon: ChartColumn },
  { href: opsPaths.tasks, label: 'Tasks', icon: Film },
  { href: opsPaths.callbacks, label: 'Failed callbacks', icon: BellRing },
  { href: opsPaths.providers, label: 'Providers', icon: Server },
  { href: opsPaths.accounts, label: 'Accounts', icon: Building2 },
  { href: opsPaths.prices, label: 'Prices', icon: Tags },
  { href: opsPaths.people, label: 'People', icon: Users },
  { href: opsPaths.audit, label: 'Audit log', icon: ScrollText },
];
