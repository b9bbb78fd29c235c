import { Clapperboard, LayoutGrid } from './icons.ts';
import { Coins, Film, KeyRound, Settings, Users, Webhook } from '../../ui/icons.ts';
import { paths } from '../../paths.ts';
import type { NavGroup } from '../../shell/nav.ts';

/** The pages of an account, for its sidebar, the palette and the shortcuts. */
export function accountLinks(account: string): readonly NavGroup[] {
  return [
    {
      title: 'Build',
      links: [
        { href: paths.overview(account), label: 'Overview', icon: LayoutGrid, key: 'o' },
        { href: paths.playground(account), label: 'Playground', icon: Clapperboard, key: 'p' },
        { href: paths.keys(account), label: 'API keys', icon: KeyRound, key: 'k' },
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
        { href: paths.settings(account), label: 'Settings', icon: Settings },
      ],
    },
  ];
}
