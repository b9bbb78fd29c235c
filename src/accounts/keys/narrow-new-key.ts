import type { FieldError } from '../../platform/text/field-errors.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';
import type { ApiKey, NewKey } from './key-record.ts';

/** The limits of the key that makes another one. */
export type KeyCreatorLimits = Pick<ApiKey, 'scopes' | 'models' | 'expiresAt'> & {
  /** Set if it has spend caps: the keys that it makes share them. */
  readonly spendSubject: string | undefined;
};

export const findKeyCreatorLimits = maybeOne<KeyCreatorLimits, [keyId: string, accountId: string]>({
  name: 'find-limits-of-key',
  text: `
select scopes, models, expires_at as "expiresAt",
  (select subject_id from spend_caps where spend_caps.account_id = $2 and subject_id = spend_subject limit 1) as "spendSubject"
from api_keys where id = $1 and account_id = $2`,
});

type Narrowed<Value> = { readonly value: Value } | { readonly error: FieldError };
type Rule<Value> = 'no_limit' | ((requested: Value, own: KeyCreatorLimits) => Narrowed<Value>);

const refused = (path: string, message: string) => ({ error: { path, message } });

/** A field of a new key is no limit, or states here how the limits of the key that makes it narrow it. */
const rules: { readonly [Field in keyof NewKey]-?: Rule<NewKey[Field]> } = {
  accountId: 'no_limit',
  name: 'no_limit',
  dialect: 'no_limit',
  mergeRepeats: 'no_limit',
  scopes: (requested, own) => {
    const excess = requested.find((scope) => !own.scopes.includes(scope));
    return excess === undefined ? { value: requested } : refused('scopes', `the calling key lacks the scope ${excess}`);
  },
  models: (named, own) => {
    const requested = named ?? own.models;
    const index = requested?.findIndex((model) => own.models?.includes(model) === false) ?? -1;
    return index === -1 ? { value: requested } : refused(`models[${index}]`, 'is not a model of the calling key');
  },
  expiresAt: (requested, own) =>
    (requested ?? 0) > (own.expiresAt ?? Infinity)
      ? refused('expireTime', 'must not be later than that of the calling key')
      : { value: requested ?? own.expiresAt },
  caps: (requested, own) =>
    requested !== undefined && own.spendSubject !== undefined
      ? refused('caps', 'must be left out: the calling key has caps, which the new key shares')
      : { value: requested },
  spendSubject: (requested, own) =>
    requested === undefined || own.spendSubject === undefined || requested === own.spendSubject
      ? { value: requested ?? own.spendSubject }
      : refused('caps', 'must be those of the calling key'),
};

/** Returns the new key with the limits of the key that makes it, or the fields that exceed them. */
export function narrowKeyOrRefuse(
  requested: NewKey,
  own: KeyCreatorLimits,
): { readonly key: NewKey } | { readonly errors: readonly FieldError[] } {
  const names = Object.keys(rules) as (keyof NewKey)[]; // the keys of an object literal are its declared keys
  const results = names.map((name) => [name, narrowField(name, requested, own)] as const);
  const errors = results.flatMap(([, result]) => ('error' in result ? [result.error] : []));
  if (errors.length > 0) return { errors };
  const values = results.flatMap(([name, result]) => ('value' in result ? [[name, result.value] as const] : []));
  return { key: { ...requested, ...Object.fromEntries(values) } };
}

function narrowField(name: keyof NewKey, requested: NewKey, own: KeyCreatorLimits): Narrowed<unknown> {
  // The compiler does not relate the rule of a field to the type of that field.
  const rule = rules[name] as Rule<unknown>;
  return rule === 'no_limit' ? { value: requested[name] } : rule(requested[name], own);
}

/**
 * Returns why the successor of a key would exceed the limits of the key that rotates it. Only its expiry is narrowed: the others stay as
 * they are.
 */
export function findSuccessorExcessErrors(old: NewKey, own: KeyCreatorLimits): readonly FieldError[] {
  const isWider = old.models === undefined && own.models !== undefined;
  const narrowed = narrowKeyOrRefuse({ ...old, expiresAt: undefined }, own);
  const errors = 'errors' in narrowed ? narrowed.errors : [];
  return [...errors, ...(isWider ? [{ path: 'models', message: 'exceed those of the calling key' }] : [])];
}
