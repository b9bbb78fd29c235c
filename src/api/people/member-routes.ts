import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { roles } from '../../accounts/people/account-roles-and-scopes.ts';
import {
  changeRoleAndEndSessions,
  inviteMember,
  maxInvitations,
  removeMember,
  withdrawMemberInvitation,
  TooManyMailsError,
} from '../../accounts/people/change-members.ts';
import { listInvitations } from '../../accounts/sign-in/one-time-links.ts';
import { listMembers } from '../../accounts/people/person-list.ts';
import { memberSchema, presentMember } from './person-view.ts';
import { listAccountSecurityEvents } from '../../accounts/people/security-events.ts';
import { addressAndUserAgentOf, type PersonOfAccount, type SessionDeps } from '../sign-in/authenticate-session.ts';
import { emailField } from './email-and-password-fields.ts';
import { setSessionCookie } from '../sign-in/session-and-oidc-visit-cookies.ts';
import type { Context } from '../core/request-context-and-responses.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import { HttpError } from '../core/http-error.ts';
import { oneOf, uncheckedIdField, unixMsSchema } from '../core/request-fields.ts';
import { type MailDeps, newOneTimeLinkSchema, presentNewOneTimeLink } from './one-time-link-view.ts';
import { securityEventsSchema, presentSecurityEventPage } from './security-event-view.ts';
import { pickRowFieldsBySchema } from '../core/pick-row-fields-by-schema.ts';
import { numericIdPageParameters, strictQuery } from '../core/query-parameters.ts';

/** The console shows all members on one page. */
const maxMembers = 1000;

const invitationSchema = z.strictObject({
  linkId: z.string(),
  email: z.string(),
  role: z.enum(roles),
  expireTime: unixMsSchema,
});

const list = defineEndpoint({
  operationId: 'listMembers',
  route: 'GET /api/console/v1/members',
  scope: 'member',
  summary: 'List members and open invitations',
  data: z.strictObject({ members: z.array(memberSchema), invitations: z.array(invitationSchema) }),
  handler: async ({ accountId }, { db }) => ({
    members: (await listMembers(db, { accountId, limit: maxMembers })).map(presentMember),
    invitations: (await listInvitations(db, accountId)).map((invitation) =>
      pickRowFieldsBySchema(invitationSchema, { ...invitation, expireTime: invitation.expiresAt }),
    ),
  }),
});

const roleField = oneOf(roles);

// Anyone who has the link can accept the invitation. So an owner gets it only if it was not sent by e-mail.
const memberInvitationSchema = newOneTimeLinkSchema
  .extend({
    url: z.string().nullable().meta({ description: 'Null if it was sent by e-mail. It is not shown again.' }),
    isMailed: z.boolean().meta({
      description:
        'The link was sent by e-mail. If false, no mail server is configured: send it to the person yourself.',
    }),
  })
  .meta({ id: 'MemberInvitation' });

const invite = defineEndpoint({
  operationId: 'inviteMember',
  route: 'POST /api/console/v1/members/invite',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Invite a person into the account',
  description: 'Replaces the open invitation to the same e-mail, if there is one.',
  body: z.strictObject({ email: emailField, role: roleField }),
  data: memberInvitationSchema,
  failures: ['account_closed', 'already_member', 'too_many_invitations', 'too_many_mails'],
  handler: async ({ input, ctx, ...person }, { db, mails, console: { publicUrl } }: SessionDeps & MailDeps) => {
    const link = await inviteMember(db, byOf(ctx, person), input, mails).catch((error: unknown) => {
      throw error instanceof TooManyMailsError ? new HttpError('too_many_mails') : error;
    });
    if (link === 'too_many_invitations') throw new HttpError(link, { data: { limit: maxInvitations } });
    if (link === 'already_member') throw new HttpError(link);
    const shown = presentNewOneTimeLink(publicUrl, link);
    return { ...shown, url: link.isMailed ? null : shown.url };
  },
});

function byOf(ctx: Context, { session, accountId }: PersonOfAccount) {
  return { session, accountId, origin: addressAndUserAgentOf(ctx) };
}

const withdraw = defineEndpoint({
  operationId: 'withdrawInvitation',
  route: 'POST /api/console/v1/members/withdraw',
  scope: 'owner',
  summary: 'Withdraw an invitation',
  body: z.strictObject({ linkId: uncheckedIdField }),
  data: z.strictObject({ linkId: z.string() }),
  failures: ['link_not_found'],
  handler: async ({ input: { linkId }, ctx, ...person }, { db }) => {
    const isWithdrawn = isUuid(linkId) && (await withdrawMemberInvitation(db, byOf(ctx, person), linkId));
    if (!isWithdrawn) throw new HttpError('link_not_found');
    return { linkId };
  },
});

const setRole = defineEndpoint({
  operationId: 'setMemberRole',
  route: 'POST /api/console/v1/members/role',
  scope: 'owner',
  needsRecentProof: true,
  summary: "Change a member's role",
  description:
    "Ends the member's sessions and withdraws open invitations to them. An owner who changes their own role gets a new cookie.",
  body: z.strictObject({ userId: uncheckedIdField, role: roleField }),
  data: z.strictObject({ userId: z.string(), role: z.enum(roles) }),
  answerHeaders: { 'Set-Cookie': 'The new cookie of an owner who changed their own role.' },
  failures: ['member_not_found', 'last_owner'],
  handler: async ({ input, ctx, ...person }, { db, console: { publicUrl } }: SessionDeps) => {
    const outcome = isUuid(input.userId)
      ? await changeRoleAndEndSessions(db, byOf(ctx, person), input)
      : 'member_not_found';
    if (typeof outcome === 'string') throw new HttpError(outcome);
    if (outcome.own !== undefined) setSessionCookie(ctx, publicUrl, outcome.own);
    return input;
  },
});

const remove = defineEndpoint({
  operationId: 'removeMember',
  route: 'POST /api/console/v1/members/remove',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Remove a member',
  description: 'Takes effect immediately. Withdraws open invitations to the member.',
  body: z.strictObject({ userId: uncheckedIdField }),
  data: z.strictObject({ userId: z.string() }),
  failures: ['member_not_found', 'last_owner'],
  handler: async ({ input: { userId }, ctx, ...person }, { db }) => {
    const outcome = isUuid(userId) ? await removeMember(db, byOf(ctx, person), userId) : 'member_not_found';
    if (outcome !== 'removed') throw new HttpError(outcome);
    return { userId };
  },
});

const events = defineEndpoint({
  operationId: 'listSecurityEvents',
  route: 'GET /api/console/v1/events',
  scope: 'owner',
  summary: 'List security events of the account',
  description: 'Sign-ins and failed sign-ins, links, roles and sessions, newest first.',
  query: strictQuery(numericIdPageParameters),
  data: securityEventsSchema,
  handler: async ({ accountId, query: { cursor: before, limit } }, { db }) =>
    presentSecurityEventPage(await listAccountSecurityEvents(db, accountId, { before, limit: limit + 1 }), limit),
});

export const memberAndSecurityEndpoints = [list, invite, setRole, remove, withdraw, events];
