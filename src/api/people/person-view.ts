import { z } from 'zod';
import { roles } from '../../accounts/people/role.ts';
import type { ListedMember, OperatorsPerson } from '../../accounts/people/person-list.ts';
import { unixMs } from '../core/request-fields.ts';
import { pickSchemaFields } from '../core/pick-schema-fields.ts';

export const memberSchema = z
  .strictObject({
    userId: z.string(),
    email: z.string(),
    isDisabled: z.boolean(),
    role: z.enum(roles),
    joinTime: unixMs,
    lastUseTime: unixMs.nullable().meta({ description: 'Accurate to about a minute.' }),
  })
  .meta({ id: 'Member' });

const operatorPart = z.strictObject({
  isOperator: z.boolean(),
  accounts: z
    .array(z.strictObject({ accountId: z.string(), name: z.string(), role: z.enum(roles) }))
    .meta({ description: 'By name; at most 100.' }),
  createTime: unixMs,
  lastSignInTime: unixMs.nullable(),
});

export const personSchema = memberSchema
  .extend({
    role: memberSchema.shape.role.nullable().meta({ description: 'In the account of the request; null without one.' }),
    joinTime: unixMs.nullable(),
    operator: operatorPart,
  })
  .meta({ id: 'Person' });

export function presentMember(member: ListedMember) {
  return pickSchemaFields(memberSchema, { ...member, joinTime: member.joinedAt, lastUseTime: member.lastUsedAt });
}

export function presentPerson(person: OperatorsPerson) {
  const { joinedAt: joinTime, lastUsedAt: lastUseTime, createdAt: createTime, lastSignInAt: lastSignInTime } = person;
  const operator = pickSchemaFields(operatorPart, { ...person, createTime, lastSignInTime });
  return pickSchemaFields(personSchema, { ...person, joinTime, lastUseTime, operator });
}
