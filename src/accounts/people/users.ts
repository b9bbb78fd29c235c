import { v7 as uuidv7 } from 'uuid';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { maybeOne, noRows, one } from '../../platform/database/declare-statements.ts';

export type User = {
  readonly userId: string;
  readonly email: string;
  readonly isOperator: boolean;
  readonly isDisabled: boolean;
  /** A PHC string; undefined for a person without a password. */
  readonly passwordHash: string | undefined;
};

const columns = `id as "userId", email, is_operator as "isOperator", disabled_at is not null as "isDisabled",
  password_hash as "passwordHash"`;

export const findUserByEmail = maybeOne<User, [email: string]>({
  name: 'find-user-by-email',
  text: `select ${columns} from users where email = $1`,
});

export const findUser = maybeOne<User, [userId: string]>({
  name: 'find-user',
  text: `select ${columns} from users where id = $1`,
});

export const lockUser = maybeOne<User, [userId: string]>({
  name: 'lock-user',
  text: `select ${columns} from users where id = $1 for no key update`,
});

/** Serializes transactions that create, join or erase the user of an e-mail. It precedes the locks of accounts and user. */
export const lockEmail = noRows<[email: string]>({
  name: 'lock-email',
  text: 'select pg_advisory_xact_lock(4202618, hashtext($1))',
});

type NewUser = Pick<User, 'email' | 'passwordHash' | 'isOperator'> & {
  /** Set by a sign-up, because a mailbox signs up once. */
  readonly mailboxHash?: Buffer | undefined;
};

export const createUser = one<User, [user: NewUser]>({
  name: 'create-user',
  text: `insert into users (id, email, password_hash, is_operator, mailbox_hash) values ($1, $2, $3, $4, $5) returning ${columns}`,
  values: (user) => [uuidv7(), ...pickFieldValues(user, 'email', 'passwordHash', 'isOperator', 'mailboxHash')],
});

export const writePasswordHash = noRows<[userId: string, passwordHash: string | undefined]>({
  name: 'set-password',
  text: `update users set password_hash = $2 where id = $1`,
});

export const setUserIsOperator = noRows<[userId: string, isOperator: boolean]>({
  name: 'set-operator',
  text: `
update users set is_operator = $2,
  unattached_since = case when not $2 and not exists (select from memberships where user_id = $1) then now() end
where id = $1`,
});

export const setUserDisabled = noRows<[userId: string, isDisabled: boolean]>({
  name: 'disable-user',
  text: `update users set disabled_at = case when $2 then now() end where id = $1`,
});

export const hasOperator = one<{ exists: boolean }>({
  name: 'has-operator',
  text: `select exists (select from users where is_operator and disabled_at is null)`,
});
