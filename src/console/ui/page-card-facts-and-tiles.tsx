import { ChevronLeft } from './controls/icons.ts';
import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { titleOf } from '../api/page-brand.ts';
import './lists/facts.css';
import './page-card-facts-and-tiles.css';

/** The title of a page unless it gives another one, such as the name of what it shows. */
export const DefaultPageTitleContext = createContext('');

type PageProps = {
  readonly title?: string;
  /** Replaces the title in the browser's tab, for example with progress. */
  readonly tabTitle?: string | undefined;
  /** Replaces the title in the page, for example to add a state. */
  readonly heading?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly back?: { readonly href: string; readonly label: string };
  readonly children: ComponentChildren;
};

/** A page: one h1, what it is for, its actions, its content. */
export function Page({ title: given, tabTitle, heading, lead, actions, back, children }: PageProps) {
  const declared = useContext(DefaultPageTitleContext);
  const title = given ?? declared;
  useEffect(() => {
    document.title = titleOf(tabTitle ?? title);
  }, [tabTitle, title]);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          {back !== undefined && (
            <Link href={back.href} class="crumb">
              <ChevronLeft size={14} aria-hidden="true" />
              {back.label}
            </Link>
          )}
          <h1>{heading ?? title}</h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

type CardProps = {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The content touches the edges, as a table does. */
  readonly isFlush?: boolean;
};

export function Card({ title, actions, children, isFlush }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {isFlush === true ? children : <div class="body">{children}</div>}
    </section>
  );
}

export type LabelAndValue = readonly [label: string, value: ComponentChildren];

/** Labels and values; those without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly LabelAndValue[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

type TileProps = { readonly label: string; readonly value: ComponentChildren; readonly note?: ComponentChildren };

export function Tiles({ tiles }: { readonly tiles: readonly TileProps[] }) {
  return (
    <div class="tiles">
      {tiles.map(({ label, value, note }) => (
        <div key={label} class="tile">
          <span class="label">{label}</span>
          <span class="value">{value}</span>
          {note !== undefined && <span class="under">{note}</span>}
        </div>
      ))}
    </div>
  );
}
