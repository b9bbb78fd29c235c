import { v7 as uuidv7 } from 'uuid';
import type { Database } from '../../platform/database/database.ts';
import { recordSecurityEvent, type Origin } from '../people/security-events.ts';
import { pickFieldValues } from '../../platform/database/sql-fragments-and-parameters.ts';
import { many, maybeOne, noRows } from '../../platform/database/declare-statements.ts';
import { isSessionStored } from './sessions.ts';
import { lockUser } from '../people/users.ts';

export type Passkey = {
  readonly passkeyId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
};

export type Credential = {
  readonly credentialId: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
};

export const maxPasskeys = 20;

const columns = `id as "passkeyId", name, created_at as "createdAt", last_used_at as "lastUsedAt"`;
const credentialColumns = `credential_id as "credentialId", public_key as "publicKey", counter, transports`;

export const listPasskeys = many<Passkey & Credential, [userId: string]>({
  name: 'list-passkeys',
  text: `
select ${columns}, ${credentialColumns} from passkeys where user_id = $1 order by created_at limit ${maxPasskeys}`,
});

type Person = { readonly userId: string; readonly email: string };

const insertPasskey = maybeOne<Passkey, [userId: string, name: string, credential: Credential]>({
  name: 'create-passkey',
  text: `
insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports)
values ($1, $2, $3, $4, $5, $6, $7) on conflict (credential_id) do nothing returning ${columns}`,
  values: (userId, name, credential) => [
    uuidv7(),
    userId,
    name,
    ...pickFieldValues(credential, 'credentialId', 'publicKey', 'counter', 'transports'),
  ],
});

export function addPasskey(
  db: Database,
  { userId, email, sessionId }: Person & { readonly sessionId: string },
  { name, credential, origin }: { readonly name: string; readonly credential: Credential; readonly origin: Origin },
): Promise<Passkey | 'too_many_passkeys' | 'known_passkey' | 'not_signed_in'> {
  return db.transaction(async (run) => {
    await lockUser({ run }, userId);
    // A reset removes all passkeys and ends all sessions; it must not be followed by a passkey from before it.
    if (!(await isSessionStored({ run }, sessionId)).exists) return 'not_signed_in';
    if ((await listPasskeys({ run }, userId)).length >= maxPasskeys) return 'too_many_passkeys';
    const added = await insertPasskey({ run }, userId, name, credential);
    if (added === undefined) return 'known_passkey';
    await recordSecurityEvent({ run }, { kind: 'passkey_added', userId, email, origin, details: { name } });
    return added;
  });
}

export const findPasskey = maybeOne<Credential & Person & { passkeyId: string; isDisabled: boolean }, [id: string]>({
  name: 'find-passkey',
  text: `
select passkeys.id as "passkeyId", user_id as "userId", email, disabled_at is not null as "isDisabled", ${credentialColumns}
from passkeys join users on users.id = user_id where credential_id = $1`,
});

/** Stores the authenticator's counter of uses, which detects copies; undefined if the passkey was removed. */
export const touchPasskey = maybeOne<{ passkeyId: string }, [passkeyId: string, counter: number]>({
  name: 'touch-passkey',
  text: `update passkeys set counter = $2, last_used_at = now() where id = $1 returning id as "passkeyId"`,
});

const deletePasskey = maybeOne<{ name: string }, [userId: string, passkeyId: string]>({
  name: 'delete-passkey',
  text: `delete from passkeys where user_id = $1 and id = $2 returning name`,
});

export const removePasskeys = noRows<[userId: string]>({
  name: 'remove-passkeys',
  text: 'delete from passkeys where user_id = $1',
});

/** Returns false if the person has no passkey of this id. */
export function removePasskey(db: Database, { userId, email }: Person, passkeyId: string, origin: Origin) {
  return db.transaction(async (run) => {
    const removed = await deletePasskey({ run }, userId, passkeyId);
    if (removed === undefined) return false;
    await recordSecurityEvent({ run }, { kind: 'passkey_removed', userId, email, origin, details: removed });
    return true;
  });
}
