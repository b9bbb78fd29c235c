import type { LucideIcon } from 'lucide-preact';

/** A link of the sidebar. */
export type NavLink = { readonly href: string; readonly label: string; readonly icon: LucideIcon };

export type NavGroup = { readonly title: string; readonly links: readonly NavLink[] };
