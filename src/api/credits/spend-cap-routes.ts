import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { findAccount } from '../../accounts/accounts.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { idField, maxCredits, uncheckedIdField, unixMsSchema, wholeNumberField } from '../core/request-fields.ts';
import { idParameter, strictQuery } from '../core/query-parameters.ts';
import {
  type CapSubject,
  capPeriods,
  listSpendCapsOfAccount,
  setSpendCaps,
  setSpendCapsAs,
  type SpendCap,
} from '../../accounts/limits/spend-caps.ts';

const credits = z.int().nonnegative();

const capSchema = z
  .strictObject({
    subject: z.enum(['key', 'member', 'account']),
    subjectId: z.string().meta({ description: 'The id of the key, the person or the account.' }),
    period: z.enum(capPeriods).meta({ description: 'Days and months are those of UTC.' }),
    cap: credits,
    spent: credits.meta({ description: 'Charges less refunds of tasks created in the period.' }),
    resetTime: unixMsSchema.nullable().meta({ description: 'When `spent` becomes 0; null for a total.' }),
  })
  .meta({ id: 'SpendCap' });

const listed = z.strictObject({ caps: z.array(capSchema) });

export function presentSpendCap({ credits: cap, resetsAt, ...rest }: SpendCap) {
  return { ...rest, cap, resetTime: resetsAt ?? null };
}

const presentCaps = (caps: readonly SpendCap[]) => ({ caps: caps.map(presentSpendCap) });

const cap = wholeNumberField(0, maxCredits, `must be null or a whole number from 0 to ${maxCredits}`).nullish();

/** Caps by period in a request. Null removes a cap. */
export const spendCapInputFields = { day: cap, month: cap, total: cap };

const subjectFields = { keyId: uncheckedIdField.nullish(), userId: uncheckedIdField.nullish() };

const list = defineEndpoint({
  operationId: 'listSpendCaps',
  route: 'GET /api/v1/caps',
  scope: 'keys:write',
  summary: 'List spend caps',
  description: 'The caps of the account, its members and its active keys.',
  data: listed,
  handler: async ({ caller }, { db }) => presentCaps(await listSpendCapsOfAccount(db, caller.accountId)),
});

const set = defineEndpoint({
  operationId: 'setSpendCaps',
  route: 'POST /api/v1/caps',
  scope: 'keys:write',
  summary: 'Set spend caps',
  description:
    'Limits what a key (`keyId`), a member (`userId`) or, without either, the whole account may spend by day, month (UTC) and in total. ' +
    'Null removes a cap; an absent period stays as it is. What was spent in the period so far counts. A create that would exceed a cap ' +
    'is refused with `spend_cap_reached`, and a refund restores the cap. A rotated key shares the caps of the key before it, as do keys that a key with caps made. ' +
    'A key without caps can change every cap. A key that has caps can only lower caps, and can neither raise nor remove any.',
  body: z.strictObject({ ...subjectFields, ...spendCapInputFields }),
  data: listed,
  failures: ['cap_subject_not_found', 'account_closed'],
  handler: async ({ caller: { by, accountId }, input: { keyId, userId, ...change } }, { db }) => {
    const subject = subjectOf(accountId, { keyId, userId });
    const isSet = await setSpendCaps(db, accountId, subject, change, by.kind === 'key' ? by.keyId : undefined);
    if (typeof isSet === 'object') throw invalidRequest(isSet.errors);
    if (!isSet) throw new HttpError('cap_subject_not_found');
    return presentCaps(await listSpendCapsOfAccount(db, accountId));
  },
});

type Named = { readonly keyId?: string | null | undefined; readonly userId?: string | null | undefined };

function subjectOf(accountId: string, { keyId, userId }: Named): CapSubject {
  const isOfKey = typeof keyId === 'string';
  const isOfMember = typeof userId === 'string';
  if (isOfKey && isOfMember) {
    throw invalidRequest([{ path: 'userId', message: 'must be left out together with keyId' }]);
  }
  const id = keyId ?? userId ?? accountId;
  if (!isUuid(id)) throw new HttpError('cap_subject_not_found');
  return { kind: isOfKey ? 'key' : isOfMember ? 'member' : 'account', id };
}

const adminList = defineEndpoint({
  operationId: 'adminListSpendCaps',
  route: 'GET /api/admin/v1/caps',
  summary: 'List spend caps of an account',
  query: strictQuery({ accountId: idParameter('an account') }),
  data: listed,
  failures: ['account_not_found'],
  handler: async ({ query: { accountId } }, { db }) => {
    requireExisting(await findAccount(db, accountId), 'account_not_found');
    return presentCaps(await listSpendCapsOfAccount(db, accountId));
  },
});

const adminSet = defineEndpoint({
  operationId: 'adminSetSpendCaps',
  route: 'POST /api/admin/v1/caps',
  summary: 'Set spend caps of an account',
  description: 'Like `setSpendCaps`, for any account that is open.',
  body: z.strictObject({ accountId: idField('an account'), ...subjectFields, ...spendCapInputFields }),
  data: listed,
  failures: ['account_not_found', 'cap_subject_not_found', 'account_closed'],
  handler: async ({ actor, input: { accountId, keyId, userId, ...change } }, { db }) => {
    requireExisting(await findAccount(db, accountId), 'account_not_found');
    const isSet = await setSpendCapsAs(db, actor, accountId, subjectOf(accountId, { keyId, userId }), change);
    if (!isSet) throw new HttpError('cap_subject_not_found');
    return presentCaps(await listSpendCapsOfAccount(db, accountId));
  },
});

export const spendCapEndpoints = [list, set];
export const operatorSpendCapEndpoints = [adminList, adminSet];
