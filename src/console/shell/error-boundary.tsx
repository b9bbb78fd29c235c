import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { ErrorBox } from '../ui/feedback/notice-and-error-box.tsx';
import { Page } from '../ui/page-card-facts-and-tiles.tsx';
import { shellText } from './shell-text.ts';

/** A page that throws while it is drawn leaves the rest of the console usable. The next page starts afresh. */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [path] = useLocation();
  // Anything may be thrown, for which the library's type is `any`.
  const [error, reset] = useErrorBoundary((thrown: unknown) => reportError(thrown)) as [unknown, () => void];
  useEffect(() => reset(), [path]);
  if (error === undefined || error === null) return <>{children}</>;
  return (
    <Page title={shellText.broken.page}>
      <ErrorBox failure={shellText.broken} onRetry={() => location.reload()} />
    </Page>
  );
}
