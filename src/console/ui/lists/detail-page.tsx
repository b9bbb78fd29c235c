import type { ComponentChildren } from 'preact';
import { apiProblemFromError } from '../../api/api-problem-and-words.ts';
import { LinkButton } from '../controls/button.tsx';
import { Empty } from '../feedback/empty.tsx';
import type { Icon } from '../controls/icon.ts';
import { Loaded, type ReadResult } from '../feedback/loaded-or-read-error.tsx';
import { Page } from '../page-card-facts-and-tiles.tsx';
import { Skeleton } from '../feedback/skeleton.tsx';

export type BackLinkTarget = { readonly href: string; readonly label: string };

type DetailProps<Data> = {
  readonly of: ReadResult<Data>;
  /** Until the content has a title of its own. */
  readonly title: string;
  readonly back: BackLinkTarget;
  readonly unknown: { readonly icon: Icon; readonly title: string; readonly text: string; readonly seeAll: string };
  /** Nothing has this id. By default the response of the service decides. */
  readonly isUnknown?: boolean;
  readonly children: (data: Data) => ComponentChildren;
};

/** The page of one thing: a skeleton while it loads, then its content, an error, or that it does not exist. */
export function DetailPage<Data>(props: DetailProps<Data>) {
  const { of, title, back, unknown, children } = props;
  const isUnknown = props.isUnknown ?? (of.error !== null && [404, 422].includes(apiProblemFromError(of.error).status));
  if (of.data !== undefined && !isUnknown) return <>{children(of.data)}</>;
  return (
    <Page title={title} back={back}>
      {isUnknown ? (
        <Empty icon={unknown.icon} title={unknown.title} text={unknown.text}>
          <div class="row">
            <LinkButton href={back.href}>{unknown.seeAll}</LinkButton>
          </div>
        </Empty>
      ) : (
        <Loaded of={of} waiting={<Columns />}>
          {children}
        </Loaded>
      )}
    </Page>
  );
}

function Columns() {
  return (
    <div class="columns wide-left" aria-busy="true">
      <Skeleton height="320px" />
      <Skeleton height="240px" />
    </div>
  );
}
