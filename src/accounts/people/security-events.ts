import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, noRows } from '../../platform/database/declare-statements.ts';

export type Origin = { readonly address: string; readonly userAgent: string };

export type NewSecurityEvent = {
  readonly kind: SecurityEventKind;
  readonly userId?: string | undefined;
  readonly email?: string | undefined;
  /** Undefined if the event concerns the person in all their accounts. */
  readonly accountId?: string | undefined;
  /** The person or operator who caused the event, unless it was the person concerned. */
  readonly actor?: string | undefined;
  readonly origin?: Origin | undefined;
  /** Contains no secrets. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
};

/** Call it in the transaction of the change. */
export const recordSecurityEvent = noRows<[event: NewSecurityEvent]>({
  name: 'record-security-event',
  text: `
insert into security_events (kind, user_id, email, account_id, actor, address, user_agent, details)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
  values: (event) => [
    ...pickFieldValues(event, 'kind', 'userId', 'email', 'accountId', 'actor'),
    event.origin?.address,
    event.origin?.userAgent,
    JSON.stringify(event.details ?? {}),
  ],
});

export type RecordedSecurityEvent = Omit<NewSecurityEvent, 'origin'> &
  Partial<Origin> & { readonly eventId: number; readonly createdAt: number };

type Page = { readonly before?: number | undefined; readonly limit: number };

const columns = `id as "eventId", kind, user_id as "userId", email, account_id as "accountId", actor, address,
  user_agent as "userAgent", details, created_at as "createdAt"`;

/** The events of an account, and those of its members that concern all their accounts; newest first. */
export const listAccountSecurityEvents = many<RecordedSecurityEvent, [accountId: string, page: Page]>({
  name: 'list-account-security-events',
  text: `
select ${columns} from (
  (select * from security_events where account_id = $1 and id < $2 order by id desc limit $3)
  union all
  (select event.* from memberships cross join lateral (
    select * from security_events where security_events.user_id = memberships.user_id and account_id is null and id < $2
    order by id desc limit $3
  ) event where memberships.account_id = $1)
) event order by id desc limit $3`,
  values: (accountId, { before = Number.MAX_SAFE_INTEGER, limit }) => [accountId, before, limit],
});

export const listAllSecurityEvents = many<RecordedSecurityEvent, [page: Page]>({
  name: 'list-security-events',
  text: `select ${columns} from security_events where id < $1 order by id desc limit $2`,
  values: ({ before = Number.MAX_SAFE_INTEGER, limit }) => [before, limit],
});
export const securityEventKinds = [
  'signed_in',
  'sign_in_failed',
  'signed_out',
  'reauthenticated',
  'password_changed',
  'session_ended',
  'link_made',
  'link_accepted',
  'link_withdrawn',
  'role_changed',
  'member_removed',
  'user_disabled',
  'user_enabled',
  'operator_changed',
  'passkey_added',
  'passkey_removed',
  'identity_linked',
  'account_renamed',
  'account_closed',
  'share_link_made',
  'share_link_revoked',
] as const;
export type SecurityEventKind = (typeof securityEventKinds)[number];
