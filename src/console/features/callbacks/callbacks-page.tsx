import { Link } from 'wouter-preact';
import { useAccount, useIsOperatorPage } from '../../api/session.ts';
import { operatorPaths, accountPaths } from '../../paths.ts';
import { LinkButton } from '../../ui/controls/button.tsx';
import { Webhook } from '../../ui/controls/icons.ts';
import { List, ListPage } from '../../ui/lists/list.tsx';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { actionColumnProps, type Column } from '../../ui/lists/table.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { AccountLink } from '../accounts/account-link.tsx';
import { useTaskPagePaths } from '../tasks/detail/use-task-page-paths.ts';
import type { CallbackView } from './callback-card.tsx';
import { callbacksText } from './callbacks-text.ts';
import {
  deliveryStateFilter,
  deliveryPollMs,
  nextAttemptColumn,
  lastResponseColumn,
  deliveryStateColumn,
} from './delivery-columns-and-attempts.tsx';
import { ResendCallbackButton, ResendFailedDeliveriesButton } from './resend-buttons.tsx';
import { SigningSecret } from './signing-secret.tsx';
import { TestCallbackCard } from './test-callback-card.tsx';

export function CallbacksPage() {
  return useIsOperatorPage() ? <FailedCallbacks /> : <OwnCallbacks />;
}

function OwnCallbacks() {
  return (
    <Page
      lead={callbacksText.lead}
      actions={<ResendFailedDeliveriesButton path="/api/v1/callbacks/redeliver-failed" text={callbacksText} />}
    >
      <div class="columns even">
        <SigningSecret of="callbacks" />
        <TestCallbackCard />
      </div>
      <List
        noun={callbacksText.noun}
        path="/api/v1/callbacks"
        query={{ limit: 30 }}
        rows={({ callbacks }) => callbacks}
        rowKey={({ taskId }) => taskId}
        columns={columns}
        filters={filters}
        isLinked
        everyMs={(page) => deliveryPollMs(page?.callbacks)}
        empty={{ icon: Webhook, title: callbacksText.emptyTitle, children: <NoCallbacks /> }}
      />
    </Page>
  );
}

/** Lists undelivered callbacks of every account, for operators. */
function FailedCallbacks() {
  return (
    <ListPage
      lead={callbacksText.leadOfOperators}
      noun={callbacksText.noun}
      path="/api/admin/v1/callbacks/failed"
      query={{ limit: 50 }}
      rows={({ callbacks }) => callbacks}
      rowKey={({ webhookId }) => webhookId}
      columns={columnsOfOperators}
      isLinked
      everyMs={15_000}
      empty={{ icon: Webhook, title: callbacksText.emptyTitleOfOperators, text: callbacksText.emptyOfOperators }}
    />
  );
}

const filters = [deliveryStateFilter];

const { columns: titles } = callbacksText;

const columns: readonly Column<CallbackView>[] = [
  { title: titles.url, kind: 'head', cell: (callback) => <CallbackHead callback={callback} /> },
  deliveryStateColumn,
  lastResponseColumn,
  { title: titles.attempts, kind: 'end', isMinor: true, cell: ({ attempts }) => attempts.length },
  nextAttemptColumn,
  { title: titles.ended, kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
  // The account resends its events.
  {
    ...actionColumnProps,
    cell: ({ taskId, event }) =>
      taskId !== null && (event ?? null) === null && <ResendCallbackButton taskId={taskId} />,
  },
];

/** None of these has a next attempt, and some are events that are about no task. */
const columnsOfOperators = columns.flatMap((column): readonly Column<CallbackView>[] => {
  if (column.title === titles.next) return [];
  if (column.title === titles.ended) return [{ ...column, title: titles.occurred }];
  return column.title === titles.url ? [column, accountColumn()] : [column];
});

function accountColumn(): Column<CallbackView> {
  return {
    title: titles.account,
    cell: ({ operator }) => operator && <AccountLink accountId={operator.accountId} name={operator.accountName} />,
  };
}

function CallbackHead({ callback: { taskId, url, event, operator } }: { readonly callback: CallbackView }) {
  const { of } = useTaskPagePaths();
  return (
    <Link
      href={taskId === null ? operatorPaths.account(operator?.accountId ?? '') : of(taskId)}
      class="row-link prompt one"
    >
      <bdi>{url}</bdi> {event && <code>{event}</code>}
    </Link>
  );
}

function NoCallbacks() {
  const { accountId } = useAccount();
  return (
    <>
      <p>
        {callbacksText.emptyBefore} <code>callBackUrl</code> {callbacksText.emptyAfter}
      </p>
      <div class="row">
        <LinkButton href={accountPaths.playground(accountId)}>{callbacksText.tryIt}</LinkButton>
      </div>
    </>
  );
}
