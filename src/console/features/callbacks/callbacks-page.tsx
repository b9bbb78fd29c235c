import { RotateCw, Webhook } from '../../ui/icons.ts';
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Answer } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SelectField } from '../../ui/field.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pager, useAddress } from '../../ui/pager.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { dayMs, Time } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { callbackWord, callbackWords } from '../../words.ts';
import { CallbackSecret } from './callback-secret.tsx';
import { CallbackTest } from './callback-test.tsx';
import { AttemptAnswer, RedeliverButton } from './task-callback.tsx';

type Callback = Answer<'/api/v1/callbacks'>['callbacks'][number];

const states = ['pending', 'delivered', 'failed', 'rejected'] as const;

export function CallbacksPage() {
  const { get, hrefWith } = useAddress();
  const state = states.find((one) => one === get('state'));
  const cursor = get('cursor');
  const query = { limit: 30, ...(state !== undefined && { state }), ...(cursor !== undefined && { cursor }) };
  const { data, error, refetch } = useRead('/api/v1/callbacks', query, {
    keeps: true,
    everyMs: (page) => (page?.callbacks.some((one) => one.state === 'pending') === true ? 3000 : 15_000),
  });
  const tab = (value: (typeof states)[number] | undefined, label: string) => ({
    href: hrefWith({ state: value }),
    label,
    isCurrent: state === value,
  });
  return (
    <Page
      title="Callbacks"
      lead="What was sent to your own addresses when tasks ended, and what they answered."
      actions={<RecoverButton />}
    >
      <div class="columns even">
        <CallbackSecret />
        <CallbackTest />
      </div>
      <Tabs label="States" tabs={[tab(undefined, 'All'), ...states.map((one) => tab(one, callbackWords[one].word))]} />
      {error !== null && data === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : data?.callbacks.length === 0 ? (
        <NoCallbacks isFiltered={state !== undefined} />
      ) : (
        <CallbackTable callbacks={data?.callbacks} />
      )}
      <Pager nextCursor={data?.nextCursor} what="callbacks" />
    </Page>
  );
}

function CallbackTable({ callbacks }: { readonly callbacks: readonly Callback[] | undefined }) {
  const { accountId } = useAccount();
  return (
    <Table
      caption="Callbacks, newest first"
      rows={callbacks}
      rowKey={({ taskId }) => taskId}
      isLinked
      columns={[
        {
          title: 'Sent to',
          kind: 'head',
          cell: ({ taskId, url }) => (
            <Link href={paths.task(accountId, taskId)} class="row-link prompt one">
              <bdi>{url}</bdi>
            </Link>
          ),
        },
        {
          title: 'State',
          kind: 'shrink',
          cell: ({ state }) => <StateDot tone={callbackWord(state).tone}>{callbackWord(state).word}</StateDot>,
        },
        {
          title: 'Last answer',
          kind: 'shrink',
          cell: ({ attempts: [last] }) => (last === undefined ? 'None yet' : <AttemptAnswer status={last.status} />),
        },
        { title: 'Attempts', kind: 'end', isMinor: true, cell: ({ attempts }) => attempts.length },
        {
          title: 'Next',
          kind: 'end',
          cell: ({ nextAttemptTime }) => (nextAttemptTime === null ? '–' : <Time ms={nextAttemptTime} />),
        },
        { title: 'Task ended', kind: 'end', cell: ({ createTime }) => <Time ms={createTime} /> },
        { title: 'Actions', kind: 'actions', cell: ({ taskId }) => <RedeliverButton taskId={taskId} /> },
      ]}
    />
  );
}

function NoCallbacks({ isFiltered }: { readonly isFiltered: boolean }) {
  const { accountId } = useAccount();
  if (isFiltered) {
    return (
      <Empty icon={Webhook} title="None in this state">
        <p>Callbacks in another state are behind the other tabs.</p>
      </Empty>
    );
  }
  return (
    <Empty icon={Webhook} title="No callbacks yet">
      <p>
        Give <code>callBackUrl</code> with a request: the record is posted there when the task ends. A receiver that
        does not answer 2xx is tried again over three days.
      </p>
      <div class="row">
        <LinkButton href={paths.playground(accountId)}>Try one in the playground</LinkButton>
      </div>
    </Empty>
  );
}

// A callback is tried for three days before it has failed: shorter spans would hold none.
const spans = [
  { value: '7', label: 'The last 7 days' },
  { value: '14', label: 'The last 14 days' },
  { value: '30', label: 'The last 30 days' },
] as const;

/** After the receiver's own outage: everything that failed meanwhile, once more. */
function RecoverButton() {
  const [isAsked, setAsked] = useState(false);
  const [days, setDays] = useState<(typeof spans)[number]['value']>('7');
  const reason = useRoleReason('member');
  const recover = useSend('/api/v1/callbacks/redeliver-failed', {
    onDone: ({ redelivered, hasMore }) => {
      setAsked(false);
      const more = hasMore ? '; there are more, send again' : '';
      const sent = redelivered === 1 ? 'One is' : `${redelivered} are`;
      toast(redelivered === 0 ? 'None has failed in this time' : `${sent} sent again now${more}`);
    },
  });
  return (
    <>
      <Button disabledReason={reason} onClick={() => setAsked(true)}>
        <RotateCw size={16} aria-hidden="true" /> Send failed ones again
      </Button>
      {isAsked && (
        <Dialog
          title="Send failed callbacks again"
          onClose={() => setAsked(false)}
          onSubmit={() => recover.mutate({ since: Date.now() - Number(days) * dayMs })}
          footer={
            <>
              <Button onClick={() => setAsked(false)}>Cancel</Button>
              <Button look="primary" type="submit" busy={recover.isPending}>
                Send again
              </Button>
            </>
          }
        >
          {recover.error !== null && <ErrorBox failure={failureOf(recover.error)} />}
          <p>
            A callback has failed when three days of attempts brought no 2xx. Each is posted now, and tried as the first
            time. Receivers know repeated ones by their webhook-id.
          </p>
          <SelectField label="Of tasks that ended in" value={days} options={spans} onValue={setDays} />
        </Dialog>
      )}
    </>
  );
}
