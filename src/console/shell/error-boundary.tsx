import type { ComponentChildren } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { Failure } from '../api/problem.ts';
import { ErrorBox } from '../ui/notice.tsx';
import { Page } from '../ui/page.tsx';

const broken: Failure = {
  title: 'This page cannot be shown',
  sentence: 'It may be older than the service. Reload it; if that does not help, tell an operator what you did.',
};

/** A page that throws while it is drawn leaves the rest of the console usable. The next page starts afresh. */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [path] = useLocation();
  // Anything may be thrown, for which the library's type is `any`.
  const [error, reset] = useErrorBoundary((thrown: unknown) => reportError(thrown)) as [unknown, () => void];
  useEffect(() => reset(), [path]);
  if (error === undefined || error === null) return <>{children}</>;
  return (
    <Page title="Not shown">
      <ErrorBox failure={broken} onRetry={() => location.reload()} />
    </Page>
  );
}
