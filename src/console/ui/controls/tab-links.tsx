import { useLayoutEffect, useRef } from 'preact/hooks';
import { Link } from 'wouter-preact';
import './tab-links.css';

export type TabLink = {
  readonly href: string;
  readonly label: string;
  readonly count?: string | undefined;
  readonly isCurrent: boolean;
};

/** Links in a row, since what they choose stands in the address. On a narrow screen the row scrolls to the current one. */
export function TabLinks({ label, tabs }: { readonly label: string; readonly tabs: readonly TabLink[] }) {
  const row = useRef<HTMLElement>(null);
  const current = tabs.find(({ isCurrent }) => isCurrent)?.label;
  useLayoutEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (row.current && tab) row.current.scrollLeft = tab.offsetLeft - (row.current.clientWidth - tab.offsetWidth) / 2;
  }, [current]);
  return (
    <nav ref={row} class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.label} href={tab.href} replace {...(tab.isCurrent && { 'aria-current': 'page' })}>
          {tab.label}
          {tab.count !== undefined && <span class="number">{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}
