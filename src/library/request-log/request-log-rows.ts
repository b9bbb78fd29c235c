import { creatorJsonSql, type NamedCreator } from '../../tasks/list/task-creator.ts';
import { namedParameters } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';

// The log of the accounts' API calls. Its rows are written in batches after the responses, and deleted by housekeeping.

/** A finished request of an account, without its query, headers and body. */
export type FinishedRequest = {
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  readonly accountId: string;
  /** The API key or the person that called; the other one is undefined. */
  readonly keyId: string | undefined;
  readonly userId: string | undefined;
  /** When the response ended, in Unix milliseconds. */
  readonly endedAt: number;
  readonly durationMs: number;
  readonly method: string;
  /** The path, with `{name}` for each of its parameters. */
  readonly endpoint: string;
  /** The tool that an MCP request called. */
  readonly tool: string | undefined;
  /** Undefined if the client disconnected before the response began. */
  readonly status: number | undefined;
  readonly errorCode: string | undefined;
  /** The task that a create made or found. */
  readonly taskId: string | undefined;
};

export const maxEndpointLength = 200;

/** Exact to the millisecond, which `to_timestamp` is not. */
const timeOf = (ms: string) => `timestamptz 'epoch' + ${ms} * interval '1 millisecond'`;

/** Writes a batch. A batch whose first commit was uncertain can be written again. */
export const insertLoggedRequests = noRows<[requests: readonly FinishedRequest[]]>({
  name: 'insert-api-requests',
  text: `
insert into api_requests (id, account_id, key_id, user_id, ended_at, duration_ms, method, endpoint, tool, status, error_code, task_id)
select "requestId", "accountId", "keyId", "userId", ${timeOf('"endedAt"')}, "durationMs", method, endpoint, tool, status,
  "errorCode", "taskId"
from json_to_recordset($1::json) as finished ("requestId" uuid, "accountId" uuid, "keyId" uuid, "userId" uuid, "endedAt" float8,
  "durationMs" integer, method text, endpoint text, tool text, status integer, "errorCode" text, "taskId" uuid)
on conflict (id) do nothing`,
  values: (requests) => [JSON.stringify(requests)],
});

export type LoggedRequest = Omit<FinishedRequest, 'accountId' | 'keyId' | 'userId'> & {
  readonly createdBy: NamedCreator | undefined;
};

export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const;

export type RequestFilter = {
  readonly accountId: string;
  readonly statusClass?: (typeof statusClasses)[number] | undefined;
  readonly keyId?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly requestId?: string | undefined;
  /** The last request of the page before. One of another account leads to an empty page. */
  readonly after?: string | undefined;
  readonly limit: number;
};

const { $, values } = namedParameters<
  Omit<RequestFilter, 'statusClass'> & { readonly statusClass: string | undefined }
>({
  accountId: 'uuid',
  statusClass: 'integer',
  keyId: 'uuid',
  endpoint: 'text',
  errorCode: 'text',
  requestId: 'uuid',
  after: 'uuid',
  limit: 'bigint',
});

/** Lists the account's requests, the latest end first. A filter reads the whole log of the account at most, whose length is limited. */
export const listLoggedRequests = many<LoggedRequest, [filter: RequestFilter]>({
  name: 'list-api-requests',
  plannedAnew: true,
  text: `
select id as "requestId", ended_at as "endedAt", duration_ms as "durationMs", method, endpoint, tool, status,
  error_code as "errorCode", task_id as "taskId", ${creatorJsonSql} as "createdBy"
from api_requests
where account_id = ${$.accountId} and (${$.statusClass} is null or status / 100 = ${$.statusClass})
  and (${$.keyId} is null or key_id = ${$.keyId})
  and (${$.endpoint} is null or strpos(lower(endpoint), lower(${$.endpoint})) > 0)
  and (${$.errorCode} is null or error_code = ${$.errorCode})
  and (${$.requestId} is null or id = ${$.requestId})
  and (${$.after} is null
    or (ended_at, id) < (select ended_at, id from api_requests where id = ${$.after} and account_id = ${$.accountId}))
order by ended_at desc, id desc limit ${$.limit}`,
  values: ({ statusClass, ...filter }) => values({ ...filter, statusClass: statusClass?.slice(0, 1) }),
});

/** The time of the request after the newest `length` of all accounts, in Unix milliseconds; undefined if there are at most that many. */
export const findLogCutoff = maybeOne<{ readonly endedAt: number }, [length: number]>({
  name: 'find-api-request-cutoff',
  text: `select ended_at as "endedAt" from api_requests order by ended_at desc offset $1 limit 1`,
});

export type AccountOverLogLimit = { readonly accountId: string; readonly endedAt: number };

/** Lists accounts with more than `length` requests, each with the time of the first one beyond. */
export const listOverlongLogs = many<AccountOverLogLimit, [length: number]>({
  name: 'list-overlong-request-logs',
  text: `
with recursive logged as (
  (select account_id from api_requests order by account_id limit 1)
  union all
  select (select account_id from api_requests where account_id > logged.account_id order by account_id limit 1)
  from logged where logged.account_id is not null
)
select account_id as "accountId", ended_at as "endedAt"
from logged cross join lateral (
  select ended_at from api_requests where api_requests.account_id = logged.account_id
  order by ended_at desc, id desc offset $1 limit 1) beyond`,
});

/** Deletes a page of an account's requests up to a time, and returns their number. */
export const deleteFromOverlongLog = one<{ readonly deleted: number }, [log: AccountOverLogLimit, limit: number]>({
  name: 'delete-requests-up-to',
  text: `
with deleted as (
  delete from api_requests where id = any(array(
    select id from api_requests where account_id = $1 and ended_at <= ${timeOf('$2::float8')}
    order by ended_at limit $3 for update skip locked))
  returning 1
)
select count(*)::int as deleted from deleted`,
  values: ({ accountId, endedAt }, limit) => [accountId, endedAt, limit],
});
