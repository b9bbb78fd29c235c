import { accountPages, operatorPages, type PageDeclaration, personalPages } from '../pages.ts';
import { areaRoot } from '../paths.ts';

/** A link of the sidebar, the palette and the shortcuts. */
export type NavLink = PageDeclaration & { readonly href: string };

/** The pages of an account, without those of owners for everyone else. */
export function accountNav(account: string, role: string | undefined): readonly NavLink[] {
  return linksOf(account, accountPages).filter(
    ({ section, isForOwners }) => section !== undefined && (isForOwners !== true || role === 'owner'),
  );
}

export const operatorNav = linksOf(undefined, operatorPages).filter(({ section }) => section !== undefined);

/** The person's own pages, below those of the account or of operators. */
export function personalNav(account: string | undefined): readonly NavLink[] {
  return linksOf(account, personalPages);
}

function linksOf(account: string | undefined, pages: Readonly<Record<string, PageDeclaration>>): readonly NavLink[] {
  return Object.values(pages).map((page) => ({ ...page, href: `${areaRoot(account)}${page.path}` }));
}
