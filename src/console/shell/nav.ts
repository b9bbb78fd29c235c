import type { Icon } from '../ui/icon.ts';

/** A link of the sidebar; `key` leads there after `g`. */
export type NavLink = {
  readonly href: string;
  readonly label: string;
  readonly icon: Icon;
  readonly key?: string;
};

export type NavGroup = { readonly title: string; readonly links: readonly NavLink[] };
