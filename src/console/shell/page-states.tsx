import { Compass, Lock } from '../ui/icons.ts';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorBox } from '../ui/notice.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { LinkButton } from '../ui/button.tsx';

export function PageLoading() {
  return (
    <div class="page" aria-busy="true">
      <Skeleton width="220px" height="28px" />
      <Skeleton height="180px" />
    </div>
  );
}

export function NotLoaded() {
  const failure = { title: 'This page did not load', sentence: 'The connection broke, or the service was updated.' };
  return (
    <Page title="Not loaded">
      <ErrorBox failure={failure} onRetry={() => location.reload()} />
    </Page>
  );
}

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty icon={Compass} title="Nothing is at this address">
        <p>The link may be old, or mistyped.</p>
        <div class="row">
          <LinkButton href="/">Go to the overview</LinkButton>
        </div>
      </Empty>
    </Page>
  );
}

/** Another account's page, and operators' pages for everybody else. */
export function Forbidden({ what }: { readonly what: string }) {
  return (
    <Page title="Not available">
      <Empty icon={Lock} title="You have no access to this page">
        <p>{what}</p>
        <div class="row">
          <LinkButton href="/">Go to the overview</LinkButton>
        </div>
      </Empty>
    </Page>
  );
}
