import { PageLoadFailed, PageLoading } from './shell/page-states.tsx';
import { lazy } from './ui/feedback/lazy.tsx';

// Two parts of the code are loaded on their own: the pages of an account, and those of operators.

export const LazyAccountPages = lazy(
  async () => (await import('./account-pages.tsx')).AccountPages,
  PageLoading,
  PageLoadFailed,
);
export const LazyOperatorPages = lazy(
  async () => (await import('./operator-pages.tsx')).OperatorPages,
  PageLoading,
  PageLoadFailed,
);

/** Begins to load the code that this address needs, while it is not known yet who is signed in. */
export function preloadArea(path: string): void {
  // A failure is shown where the page would be.
  if (path.startsWith('/ops')) LazyOperatorPages.load().catch(() => undefined);
  else if (path.startsWith('/a/')) LazyAccountPages.load().catch(() => undefined);
}
