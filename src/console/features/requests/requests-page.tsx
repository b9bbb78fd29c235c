import { Link } from 'wouter-preact';
import type { Query } from '../../api/call.ts';
import type { LoggedRequest } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount, useIsOwner } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { StateWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { LinkButton } from '../../ui/controls/button.tsx';
import { CopyId } from '../../ui/controls/copy-button.tsx';
import { choiceFilter, type Filter, useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Activity } from '../../ui/controls/icons.ts';
import { ListPage } from '../../ui/lists/list.tsx';
import { Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import type { Column } from '../../ui/lists/table.tsx';
import { formatDuration, ExactTime, Time } from '../../ui/times-and-durations.tsx';
import { TaskLink } from '../tasks/task-link.tsx';
import { requestsText, statusTone } from './requests-text.ts';
import './requests.css';

type RequestFilter = Filter<Query<'/api/v1/requests'>>;

export function RequestsPage() {
  return (
    <ListPage
      lead={requestsText.lead}
      noun={requestsText.noun}
      path="/api/v1/requests"
      query={{ limit: 50 }}
      filters={useRequestFilters()}
      rows={({ requests }) => requests}
      rowKey={({ requestId }) => requestId}
      columns={columns}
      everyMs={5_000}
      empty={{ icon: Activity, title: requestsText.empty, children: <NoRequests /> }}
    />
  );
}

const statusFilter: RequestFilter = choiceFilter({
  name: 'status',
  label: requestsText.statuses,
  control: 'tabs',
  all: requestsText.anyStatus,
  values: ['2xx', '4xx', '5xx'] as const,
  word: (status) => requestsText.status[status],
});

const textFilters: readonly RequestFilter[] = [
  { name: 'endpoint', label: requestsText.endpoint, query: (endpoint) => ({ endpoint }) },
  { name: 'error', label: requestsText.error, query: (error) => ({ error }) },
  { name: 'requestId', label: requestsText.requestId, query: (requestId) => ({ requestId }) },
];

/** Owners choose one of the keys. Other people, who cannot list keys, narrow the list by the details of a request. */
function useRequestFilters(): readonly RequestFilter[] {
  const isOwner = useIsOwner();
  const given = useUrlParameters().get('key');
  const { data } = useRead('/api/v1/keys', {}, { isEnabled: isOwner });
  const keys = (data?.keys ?? []).map(({ keyId, name }) => ({ value: keyId, label: name }));
  // The key in the address stays a choice while the names are loaded.
  const unnamed = given === undefined || keys.some(({ value }) => value === given) ? [] : [given];
  const choices = [...keys, ...unnamed.map((value) => ({ value, label: requestsText.ofKey }))];
  const keyFilter: RequestFilter = {
    name: 'key',
    label: requestsText.key,
    ...(isOwner
      ? { options: [{ value: '', label: requestsText.allKeys }, ...choices] }
      : { control: 'chip', chip: () => requestsText.ofKey }),
    query: (keyId) => ({ keyId }),
  };
  return [statusFilter, keyFilter, ...textFilters];
}

const columns: readonly Column<LoggedRequest>[] = [
  { title: requestsText.request, kind: 'head', cell: (request) => <RequestHead request={request} /> },
  { title: requestsText.statuses, kind: 'shrink', cell: (request) => <RequestStatus request={request} /> },
  { title: requestsText.by, cell: ({ createdBy }) => <bdi>{nameOf(createdBy)}</bdi> },
  { title: requestsText.duration, kind: 'end', cell: ({ durationMs }) => formatDuration(durationMs) },
  { title: requestsText.time, kind: 'end', cell: ({ time }) => <Time ms={time} /> },
];

function nameOf(createdBy: LoggedRequest['createdBy']): string {
  return createdBy?.name ?? requestsText.person;
}

type RequestProps = { readonly request: LoggedRequest };

function RequestStatus({ request: { status, error } }: RequestProps) {
  return (
    <span>
      <StateWithDot tone={error !== null && status === 200 ? 'warn' : statusTone(status)}>
        {status ?? requestsText.aborted}
      </StateWithDot>
      {error !== null && <small class="under">{error}</small>}
    </span>
  );
}

/** Opens to the details of the request. */
function RequestHead({ request }: RequestProps) {
  const { method, endpoint, tool, requestId, time, taskId, createdBy, error } = request;
  const { hrefWith } = useUrlParameters();
  return (
    <details class="request">
      <summary>
        <span class="method">{method}</span> <code>{endpoint}</code>
      </summary>
      <Facts
        facts={[
          [requestsText.requestId, <CopyId id={requestId} label={requestsText.copyId} />],
          [requestsText.error, error === null ? undefined : <code>{error}</code>],
          [requestsText.tool, tool === null ? undefined : <code>{tool}</code>],
          [requestsText.task, taskId === null ? undefined : <TaskLink taskId={taskId} />],
          [requestsText.exactTime, <ExactTime ms={time} />],
        ]}
      />
      {createdBy?.kind === 'key' && <Link href={hrefWith({ key: createdBy.id })}>{requestsText.only}</Link>}
    </details>
  );
}

function NoRequests() {
  const { accountId } = useAccount();
  const isOwner = useIsOwner();
  return (
    <>
      <p>{requestsText.emptyAdvice}</p>
      {isOwner && (
        <div class="row">
          <LinkButton href={accountPaths.keys(accountId)}>{requestsText.createKey}</LinkButton>
        </div>
      )}
    </>
  );
}
