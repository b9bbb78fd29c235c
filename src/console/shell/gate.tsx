import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorBox, type Failure } from '../ui/notice.tsx';
import { Mark } from './mark.tsx';

type GateProps = { readonly title: string; readonly lead?: ComponentChildren; readonly children: ComponentChildren };

/** The frame of pages before a sign-in. */
export function Gate({ title, lead, children }: GateProps) {
  useEffect(() => {
    document.title = `${title} · Videogen`;
  }, [title]);
  return (
    <main class="gate" id="main" tabIndex={-1}>
      <div class="card">
        <p class="brand">
          <Mark /> Videogen
        </p>
        <h1>{title}</h1>
        {lead !== undefined && <p class="soft">{lead}</p>}
        {children}
      </div>
    </main>
  );
}

/** Of the code of a page. */
export const notLoaded: Failure = {
  title: 'This page did not load',
  sentence: 'The connection broke, or the service was updated.',
};

/** As with skeletons: what comes sooner is the first that is drawn. A drawing costs time, and its letters begin to load the font. */
const lateMs = 150;

export function GateLoading({ failed }: { readonly failed: boolean }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), lateMs);
    return () => clearTimeout(timer);
  }, []);
  if (!isLate && !failed) return null;
  return (
    <main class="gate" aria-busy={!failed}>
      <div class="card stack">
        <h1 class="visually-hidden">Videogen</h1>
        {failed ? (
          <ErrorBox failure={notLoaded} onRetry={() => location.reload()} />
        ) : (
          <>
            <Skeleton width="50%" height="26px" />
            <Skeleton height="34px" />
            <Skeleton height="34px" />
          </>
        )}
      </div>
    </main>
  );
}
