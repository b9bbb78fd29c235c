import { Readable } from 'node:stream';
import { z } from 'zod';
import { closeOwnAccount } from '../../../stores/account-closure.ts';
import { exportAccount } from '../../account-export.ts';
import { originOf } from '../../console/authenticate-session.ts';
import { defineEndpoint } from '../../define-endpoint.ts';
import { invalidRequest } from '../../errors.ts';
import { opaqueId } from '../../fields.ts';

const close = defineEndpoint({
  operationId: 'closeAccount',
  route: 'POST /api/console/v1/account/close',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Close the account for good, and delete what its tasks were about',
  description:
    'Its keys are revoked and its members taken out, the caller among them. Within minutes its unfinished tasks are cancelled and ' +
    'refunded, and the prompts, images, videos and callbacks of all its tasks are deleted. The ledger stays. The body repeats the id of ' +
    'the account, so that no other request can be taken for this one.',
  body: z.strictObject({ accountId: opaqueId }),
  data: z.strictObject({ accountId: z.string() }),
  handler: async ({ session, accountId, input, ctx }, { db }) => {
    if (input.accountId !== accountId)
      throw invalidRequest([{ path: 'accountId', message: 'must be the id of the account' }]);
    await closeOwnAccount(db, { session, accountId, origin: originOf(ctx) });
    return { accountId };
  },
});

const exportAll = defineEndpoint({
  operationId: 'exportAccount',
  route: 'GET /api/console/v1/account/export',
  scope: 'owner',
  needsRecentProof: true,
  summary: 'Everything that is kept of the account',
  description:
    'Lines of JSON, each with its `kind`: the account, its tasks with links to their media, ledger, callbacks, keys without their ' +
    'secrets, members, invitations, images and security events. The last line is of the kind `end` and counts those before it.',
  contentType: 'application/x-ndjson; charset=utf-8',
  answerHeaders: { 'Content-Disposition': 'The name of the file.' },
  data: z.custom<Readable>(),
  handler: ({ accountId, ctx }, { db, resultStore }) => {
    ctx.set('Content-Disposition', 'attachment; filename="account.jsonl"');
    return Promise.resolve(Readable.from(exportAccount(db, resultStore, accountId)));
  },
});

export const ownAccountEndpoints = [exportAll, close];
