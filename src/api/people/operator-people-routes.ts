import type { Logger } from 'pino';
import { z } from 'zod';
import { roles } from '../../accounts/people/account-roles-and-scopes.ts';
import { eraseUserAs } from '../../accounts/people/erasure.ts';
import {
  setUserDisabledAs,
  endSessionsOfUserAs,
  invitePersonAs,
  createResetLinkAs,
  setUserIsOperatorAs,
  withdrawOperatorInvitationAs,
} from '../../accounts/people/change-users-as-operator.ts';
import { listOperatorInvitations } from '../../accounts/sign-in/one-time-links.ts';
import { listAllSecurityEvents } from '../../accounts/people/security-events.ts';
import { listPeople } from '../../accounts/people/person-list.ts';
import { personSchema, presentPerson } from './person-view.ts';
import { findUser } from '../../accounts/people/users.ts';
import { emailField } from './email-and-password-fields.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { requireExisting, HttpError, invalidRequest } from '../core/http-error.ts';
import { idField, oneOf, requiredOrInvalidMessage, unixMsSchema } from '../core/request-fields.ts';
import type { SessionDeps } from '../sign-in/authenticate-session.ts';
import { type MailDeps, newOneTimeLinkSchema, presentNewOneTimeLink } from './one-time-link-view.ts';
import { securityEventsSchema, presentSecurityEventPage } from './security-event-view.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import {
  cutPage,
  cursorTextParameter,
  idParameter,
  nextCursorSchema,
  numericIdPageParameters,
  pageParametersWithCursor,
  strictQuery,
  textParameter,
} from '../core/query-parameters.ts';

const list = defineEndpoint({
  operationId: 'adminListPeople',
  route: 'GET /api/admin/v1/people',
  summary: 'List people',
  description: 'The users of the console, by e-mail.',
  query: strictQuery({
    search: textParameter('must be a text')
      .max(254)
      .default('')
      .meta({ description: 'A part of the e-mail.', default: '' }),
    accountId: idParameter('an account').meta({ description: 'The members of one account.' }).optional(),
    ...pageParametersWithCursor(cursorTextParameter),
  }),
  data: z.strictObject({ people: z.array(personSchema), nextCursor: nextCursorSchema }),
  handler: async ({ query: { search, accountId, cursor: after, limit } }, { db }) => {
    const found = await listPeople(db, { search, accountId, after, limit: limit + 1 });
    const { page, nextCursor } = cutPage(found, limit, ({ email }) => email);
    return { people: page.map(presentPerson), nextCursor };
  },
});

const events = defineEndpoint({
  operationId: 'adminListSecurityEvents',
  route: 'GET /api/admin/v1/people/events',
  summary: 'List security events of all accounts',
  description: 'Sign-ins and failed sign-ins, links, roles and sessions, newest first.',
  query: strictQuery(numericIdPageParameters),
  data: securityEventsSchema,
  handler: async ({ query: { cursor: before, limit } }, { db }) =>
    presentSecurityEventPage(await listAllSecurityEvents(db, { before, limit: limit + 1 }), limit),
});

const invite = defineEndpoint({
  operationId: 'adminInvitePerson',
  route: 'POST /api/admin/v1/people/invite',
  needsRecentProof: true,
  summary: 'Invite a person',
  description:
    'As an operator, into an account, or both. Replaces the open invitation to the same e-mail and account, if there is one.',
  body: z.strictObject({
    email: emailField,
    isOperator: z.boolean({ error: 'must be true or false' }).nullish(),
    accountId: idField('an account').nullish(),
    role: oneOf(roles).nullish().meta({ description: '`member` by default.' }),
  }),
  data: newOneTimeLinkSchema,
  failures: ['account_not_found', 'account_closed'],
  handler: async ({ actor, input }, { db, mails, console: { publicUrl } }: SessionDeps & MailDeps) => {
    const [accountId, isOperator] = [input.accountId ?? undefined, input.isOperator === true];
    if (accountId === undefined && !isOperator)
      throw invalidRequest([{ path: 'accountId', message: 'is required, unless isOperator is true' }]);
    const role = accountId === undefined ? undefined : (input.role ?? 'member');
    const link = await invitePersonAs(db, actor, { email: input.email, isOperator, accountId, role }, mails);
    return presentNewOneTimeLink(publicUrl, requireExisting(link, 'account_not_found'));
  },
});

const operatorInvitationSchema = z.strictObject({
  linkId: z.string(),
  email: z.string(),
  accountId: z.string().nullable().meta({ description: 'An account that the person also joins.' }),
  accountName: z.string().nullable(),
  role: z.enum(roles).nullable(),
  expireTime: unixMsSchema,
});

const invitations = defineEndpoint({
  operationId: 'adminListOperatorInvitations',
  route: 'GET /api/admin/v1/people/invitations',
  summary: 'List open invitations that make an operator',
  description: 'Newest first; at most 200.',
  data: z.strictObject({ invitations: z.array(operatorInvitationSchema) }),
  handler: async (_call, { db }) => ({
    invitations: (await listOperatorInvitations(db)).map((invitation) =>
      pickRowFieldsBySchema(operatorInvitationSchema, { ...invitation, expireTime: invitation.expiresAt }),
    ),
  }),
});

const withdraw = defineEndpoint({
  operationId: 'adminWithdrawInvitation',
  route: 'POST /api/admin/v1/people/withdraw',
  needsRecentProof: true,
  summary: 'Withdraw an invitation that makes an operator',
  description: 'Idempotent. Owners withdraw invitations that only lead into their account.',
  body: z.strictObject({ linkId: idField('an invitation') }),
  data: z.strictObject({ linkId: z.string() }),
  failures: ['link_not_found'],
  handler: async ({ actor, input: { linkId } }, { db }) => {
    if (!(await withdrawOperatorInvitationAs(db, actor, linkId))) throw new HttpError('link_not_found');
    return { linkId };
  },
});

const personField = { userId: idField('a person') };

const reset = defineEndpoint({
  operationId: 'adminResetPassword',
  route: 'POST /api/admin/v1/people/reset',
  needsRecentProof: true,
  summary: 'Create a link for a new password',
  body: z.strictObject(personField),
  data: newOneTimeLinkSchema,
  failures: ['person_not_found'],
  handler: async ({ actor, input: { userId } }, { db, mails, console: { publicUrl } }: SessionDeps & MailDeps) => {
    const { email } = requireExisting(await findUser(db, userId), 'person_not_found');
    return presentNewOneTimeLink(
      publicUrl,
      requireExisting(await createResetLinkAs(db, actor, email, mails), 'person_not_found'),
    );
  },
});

const personChange = {
  needsRecentProof: true,
  body: z.strictObject(personField),
  data: z.strictObject({ userId: z.string() }),
} as const;

function changedUser(outcome: Awaited<ReturnType<typeof setUserDisabledAs>>) {
  if (outcome === 'last_operator') throw new HttpError('last_operator');
  return { userId: requireExisting(outcome, 'person_not_found').userId };
}

const disable = defineEndpoint({
  ...personChange,
  operationId: 'adminDisablePerson',
  route: 'POST /api/admin/v1/people/disable',
  summary: 'Disable a person',
  description: 'Ends their sessions and withdraws open links to them. Idempotent.',
  failures: ['person_not_found', 'last_operator'],
  handler: async ({ actor, input }, { db }) => changedUser(await setUserDisabledAs(db, actor, input, true)),
});

const enable = defineEndpoint({
  ...personChange,
  operationId: 'adminEnablePerson',
  route: 'POST /api/admin/v1/people/enable',
  summary: 'Enable a person',
  description: 'They can sign in again. Idempotent.',
  failures: ['person_not_found'],
  handler: async ({ actor, input }, { db }) => changedUser(await setUserDisabledAs(db, actor, input, false)),
});

const endSessions = defineEndpoint({
  ...personChange,
  operationId: 'adminEndSessions',
  route: 'POST /api/admin/v1/people/end-sessions',
  summary: 'End all sessions of a person',
  failures: ['person_not_found'],
  handler: async ({ actor, input }, { db }) => changedUser(await endSessionsOfUserAs(db, actor, input)),
});

const setOperator = defineEndpoint({
  ...personChange,
  operationId: 'adminSetOperator',
  route: 'POST /api/admin/v1/people/operator',
  summary: 'Grant or revoke the operator role',
  description: 'Ends the sessions of the person. Revoking also withdraws open links to them. Idempotent.',
  body: z.strictObject({
    ...personField,
    isOperator: z.boolean({ error: requiredOrInvalidMessage('must be true or false') }),
  }),
  failures: ['person_not_found', 'last_operator'],
  handler: async ({ actor, input }, { db }) =>
    changedUser(await setUserIsOperatorAs(db, actor, input, input.isOperator)),
});

const erase = defineEndpoint({
  ...personChange,
  operationId: 'adminErasePerson',
  route: 'POST /api/admin/v1/people/erase',
  summary: 'Erase a person',
  description:
    'Deletes the person with their sessions, passkeys, links, memberships and security events. Records that stay, such as the ' +
    'audit log, name `erased user` instead. Cannot be undone. Idempotent.',
  failures: ['person_not_found', 'last_owner', 'last_operator'],
  handler: async ({ actor, input: { userId } }, { db, log }: WithDb & { readonly log: Logger }) => {
    const erasure = await eraseUserAs(db, actor, { userId });
    if (typeof erasure === 'string') throw new HttpError(erasure);
    if ('onlyOwnerOf' in erasure)
      throw new HttpError('last_owner', {
        msg: `account ${erasure.onlyOwnerOf} has no other owner; make another member its owner, or close it`,
      });
    log.info({ userId }, 'user erased');
    return { userId };
  },
});

export const operatorPeopleEndpoints = [
  list,
  events,
  invitations,
  invite,
  withdraw,
  reset,
  disable,
  enable,
  endSessions,
  setOperator,
  erase,
];
