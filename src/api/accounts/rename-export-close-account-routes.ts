import { Readable } from 'node:stream';
import { z } from 'zod';
import { renameOwnAccount } from '../../accounts/rename-account.ts';
import { closeOwnAccount } from '../../tasks/end/close-account-rows.ts';
import { streamAccountAsJsonLines } from './stream-account-as-json-lines.ts';
import { maxAccountNameLength } from '../../credits/sign-up/confirm-sign-up.ts';
import { addressAndUserAgentOf } from '../sign-in/authenticate-session.ts';
import { defineEndpoint } from '../core/define-endpoint.ts';
import type { WithDb } from '../core/endpoint-spec.ts';
import { invalidRequest } from '../core/http-error.ts';
import type { LinkSigner } from '../tasks/task-view.ts';
import { uncheckedIdField, oneLineTextField } from '../core/request-fields.ts';

const rename = defineEndpoint({
  operationId: 'renameAccount',
  route: 'POST /api/console/v1/account/rename',
  scope: 'owner',
  summary: 'Rename the account',
  description: 'All members see the name, and statements have it. Names need not be unique.',
  body: z.strictObject({ name: oneLineTextField(maxAccountNameLength) }),
  data: z.strictObject({ accountId: z.string(), name: z.string() }),
  failures: ['account_closed'],
  handler: async ({ session, accountId, input: { name }, ctx }, { db }) => {
    await renameOwnAccount(db, { session, accountId, origin: addressAndUserAgentOf(ctx) }, name);
    return { accountId, name };
  },
});

const close = defineEndpoint({
  operationId: 'closeAccount',
  route: 'POST /api/console/v1/account/close',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Close the account',
  description:
    'Permanent. Revokes all keys and removes all members, including the caller. Within minutes, cancels and refunds unfinished ' +
    'tasks and deletes the prompts, images, videos and callbacks of all tasks, and all events. The ledger stays. The body repeats the id of the ' +
    'account as a confirmation.',
  body: z.strictObject({ accountId: uncheckedIdField }),
  data: z.strictObject({ accountId: z.string() }),
  handler: async ({ session, accountId, input, ctx }, { db }) => {
    if (input.accountId !== accountId)
      throw invalidRequest([{ path: 'accountId', message: 'must be the id of the account' }]);
    await closeOwnAccount(db, { session, accountId, origin: addressAndUserAgentOf(ctx) });
    return { accountId };
  },
});

const exportAll = defineEndpoint({
  operationId: 'exportAccount',
  route: 'GET /api/console/v1/account/export',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Export the account',
  description:
    'Returns lines of JSON, each with a `kind`: the account, tasks with links to their media, ledger entries, purchases of ' +
    'credits, spend caps, callbacks, the event endpoint, events, keys without secrets, members, invitations, images and security events. The last line has the kind `end` and the number of lines ' +
    'before it.',
  contentType: 'application/x-ndjson; charset=utf-8',
  answerHeaders: { 'Content-Disposition': 'The file name.' },
  data: z.custom<Readable>(),
  handler: ({ accountId, ctx }, { db, resultStore }: WithDb & { readonly resultStore: LinkSigner }) => {
    ctx.set('Content-Disposition', 'attachment; filename="account.jsonl"');
    return Promise.resolve(Readable.from(streamAccountAsJsonLines(db, resultStore, accountId)));
  },
});

export const ownAccountEndpoints = [rename, exportAll, close];
