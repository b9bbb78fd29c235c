import type { Role } from './account-roles-and-scopes.ts';
import { many } from '../../platform/database/declare-statements.ts';

/** A user of the console. Times are Unix milliseconds. */
export type ListedPerson = {
  readonly userId: string;
  readonly email: string;
  readonly isDisabled: boolean;
  /** In the account of the filter; undefined without one. */
  readonly role: Role | undefined;
  readonly joinedAt: number | undefined;
  readonly lastUsedAt: number | undefined;
};

export type ListedMember = ListedPerson & { readonly role: Role; readonly joinedAt: number };

/** A user with the fields that only operators may see. */
export type OperatorsPerson = ListedPerson & {
  readonly isOperator: boolean;
  readonly createdAt: number;
  readonly lastSignInAt: number | undefined;
  readonly accounts: readonly { readonly accountId: string; readonly name: string; readonly role: Role }[];
};

type PersonFilter = {
  readonly accountId?: string | undefined;
  /** A part of the e-mail. */
  readonly search?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
};

const listing = (columns = '') => `
select users.id as "userId", email, disabled_at is not null as "isDisabled", role, memberships.created_at as "joinedAt",
  greatest(last_sign_in_at, (select max(last_used_at) from sessions where user_id = users.id)) as "lastUsedAt"${columns}
from users left join memberships on user_id = users.id and account_id = $1
where ($1::uuid is null or account_id is not null) and strpos(email, $2) > 0 and email > $3
order by email limit $4`;

const valuesOf = ({ accountId, search = '', after = '', limit }: PersonFilter) => [
  accountId,
  search.toLowerCase(),
  after,
  limit,
];

export const listMembers = many<ListedMember, [filter: PersonFilter & { readonly accountId: string }]>({
  name: 'list-members',
  plannedAnew: true,
  text: listing(),
  values: valuesOf,
});

/** The people of the installation, or of one account, by e-mail. `accounts` are at most 100. */
export const listPeople = many<OperatorsPerson, [filter: PersonFilter]>({
  name: 'list-people',
  plannedAnew: true,
  text: listing(`, is_operator as "isOperator", users.created_at as "createdAt", last_sign_in_at as "lastSignInAt", coalesce((
    select json_agg(json_build_object('accountId', accounts.id, 'name', name, 'role', own.role) order by name, accounts.id)
    from (select * from memberships where user_id = users.id limit 100) own join accounts on accounts.id = own.account_id
  ), '[]') as accounts`),
  values: valuesOf,
});
