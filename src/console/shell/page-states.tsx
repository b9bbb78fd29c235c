import type { Icon } from '../ui/controls/icon.ts';
import { Compass, Lock } from '../ui/controls/icons.ts';
import { Page } from '../ui/page-card-facts-and-tiles.tsx';
import { Empty } from '../ui/feedback/empty.tsx';
import { ErrorBox } from '../ui/feedback/notice-and-error-box.tsx';
import { Skeleton } from '../ui/feedback/skeleton.tsx';
import { LinkButton } from '../ui/controls/button.tsx';
import { shellText } from './shell-text.ts';

export function PageLoading() {
  return (
    <div class="page" aria-busy="true">
      <Skeleton width="220px" height="28px" />
      <Skeleton height="180px" />
    </div>
  );
}

export function PageLoadFailed() {
  return (
    <Page title={shellText.notLoaded.page}>
      <ErrorBox failure={shellText.notLoaded} onRetry={() => location.reload()} />
    </Page>
  );
}

export function NotFound() {
  return <NoPage icon={Compass} {...shellText.notFound} />;
}

/** The person has no role that this page requires. */
export function Forbidden({ what }: { readonly what: string }) {
  return <NoPage icon={Lock} {...shellText.forbidden} text={what} />;
}

/** A user without a membership has this page alone. */
export function NoAccount() {
  return <NoPage icon={Lock} {...shellText.noMembership} hasLink={false} />;
}

type NoPageProps = {
  readonly icon: Icon;
  readonly page: string;
  readonly title: string;
  readonly text: string;
  readonly hasLink?: boolean;
};

function NoPage({ icon, page, title, text, hasLink = true }: NoPageProps) {
  return (
    <Page title={page}>
      <Empty icon={icon} title={title} text={text}>
        {hasLink && (
          <div class="row">
            <LinkButton href="/">{shellText.toOverview}</LinkButton>
          </div>
        )}
      </Empty>
    </Page>
  );
}
