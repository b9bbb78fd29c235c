import type { LucideIcon } from 'lucide-preact';

/** A link of the sidebar; `key` leads there after `g`. */
export type NavLink = {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  readonly key?: string;
};

export type NavGroup = { readonly title: string; readonly links: readonly NavLink[] };
