import { Link } from 'wouter-preact';
import './tabs.css';

export type Tab = {
  readonly href: string;
  readonly label: string;
  readonly count?: number | string | undefined;
  readonly isCurrent: boolean;
};

/** Links in a row, since what they choose stands in the address. */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.href} href={tab.href} replace {...(tab.isCurrent && { 'aria-current': 'page' })}>
          {tab.label}
          {tab.count !== undefined && <span class="number">{tab.count.toLocaleString('en')}</span>}
        </Link>
      ))}
    </nav>
  );
}
