import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { brand, titleOf } from '../api/page-brand.ts';
import { type ReadResult, ReadErrorBox } from '../ui/feedback/loaded-or-read-error.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { BrandLogo } from './brand-logo.tsx';
import { shellText } from './shell-text.ts';
import './signed-out-frame.css';

type GateProps = { readonly title: string; readonly lead?: ComponentChildren; readonly children: ComponentChildren };

/** The frame of pages before a sign-in. */
export function SignedOutFrame({ title, lead, children }: GateProps) {
  useEffect(() => {
    document.title = titleOf(title);
  }, [title]);
  return (
    <main class="gate" id="main" tabIndex={-1}>
      <div class="card">
        <p class="brand">
          <BrandLogo /> {brand.name}
        </p>
        <h1>{title}</h1>
        {lead !== undefined && <p class="soft">{lead}</p>}
        {children}
      </div>
      <BrandLinks />
    </main>
  );
}

/** A customer may read these before they sign up. */
function BrandLinks() {
  const links = [
    [shellText.terms, brand.terms],
    [shellText.privacy, brand.privacy],
    [shellText.support, brand.support],
  ] as const;
  if (links.every(([, href]) => href === undefined)) return null;
  return (
    <nav class="brand-links" aria-label={shellText.links}>
      {links.map(
        ([label, href]) =>
          href !== undefined && (
            <a class="soft" href={href}>
              {label}
            </a>
          ),
      )}
    </nav>
  );
}

/** Replaces a page before a sign-in until its data has loaded. */
export function SignedOutLoadingOrError({ of, title }: { readonly of: ReadResult<unknown>; readonly title: string }) {
  if (of.error === null) return <SignedOutSkeleton />;
  return (
    <SignedOutFrame title={title}>
      <ReadErrorBox of={of} />
    </SignedOutFrame>
  );
}

export function SignedOutSkeleton() {
  return (
    <main class="gate" aria-busy="true">
      <div class="card stack">
        <h1 class="visually-hidden">{brand.name}</h1>
        <Skeleton width="50%" height="26px" />
        <Skeleton height="34px" />
        <Skeleton height="34px" />
      </div>
    </main>
  );
}
