import { z } from 'zod';
import { roles } from '../../accounts/people/account-roles-and-scopes.ts';
import type { ListedMember, OperatorsPerson } from '../../accounts/people/person-list.ts';
import { unixMsSchema } from '../core/request-fields.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';

export const memberSchema = z
  .strictObject({
    userId: z.string(),
    email: z.string(),
    isDisabled: z.boolean(),
    role: z.enum(roles),
    joinTime: unixMsSchema,
    lastUseTime: unixMsSchema.nullable().meta({ description: 'Accurate to about a minute.' }),
  })
  .meta({ id: 'Member' });

const operatorPart = z.strictObject({
  isOperator: z.boolean(),
  accounts: z
    .array(z.strictObject({ accountId: z.string(), name: z.string(), role: z.enum(roles) }))
    .meta({ description: 'By name; at most 100.' }),
  createTime: unixMsSchema,
  lastSignInTime: unixMsSchema.nullable(),
});

export const personSchema = memberSchema
  .extend({
    role: memberSchema.shape.role.nullable().meta({ description: 'In the account of the request; null without one.' }),
    joinTime: unixMsSchema.nullable(),
    operator: operatorPart,
  })
  .meta({ id: 'Person' });

export function presentMember(member: ListedMember) {
  return pickRowFieldsBySchema(memberSchema, { ...member, joinTime: member.joinedAt, lastUseTime: member.lastUsedAt });
}

export function presentPerson(person: OperatorsPerson) {
  const { joinedAt: joinTime, lastUsedAt: lastUseTime, createdAt: createTime, lastSignInAt: lastSignInTime } = person;
  const operator = pickRowFieldsBySchema(operatorPart, { ...person, createTime, lastSignInTime });
  return pickRowFieldsBySchema(personSchema, { ...person, joinTime, lastUseTime, operator });
}
