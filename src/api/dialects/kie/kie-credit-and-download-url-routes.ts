import { z } from 'zod';
import { howToGetKieKey } from './kie-request.ts';
import type { Dialect } from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import type { Task } from '../../../catalogue/tasks/task.ts';
import { uuidPattern } from '../../../platform/text/uuid.ts';
import { signVideoAndLastFrameLinks } from '../../../media/store/signed-link.ts';
import { findTask } from '../../../tasks/task-rows.ts';
import { readAccountOfCaller } from '../../core/authentication.ts';
import { defineEndpoint } from '../../core/define-endpoint.ts';
import { mediaDeletedError } from '../../media/send-media.ts';
import type { WithDb } from '../../core/endpoint-spec.ts';
import type { LinkSigner } from '../../tasks/task-view.ts';
import { HttpError, invalidRequest } from '../../core/http-error.ts';
import { maxUrlLength } from '../../core/request-sizes.ts';
import { requiredOrInvalidMessage } from '../../core/request-fields.ts';

function requireKie(dialect: Dialect): void {
  if (dialect === 'kie') return;
  throw new HttpError('dialect_required', { msg: `this endpoint belongs to the dialect kie; ${howToGetKieKey}` });
}

const credit = defineEndpoint({
  operationId: 'kieGetCredit',
  route: 'GET /api/v1/chat/credit',
  scope: 'credits:read',
  summary: 'Get the balance as a number',
  data: z.int().meta({ description: 'Below zero after a returned payment whose credits were spent.' }),
  failures: ['dialect_required'],
  handler: async ({ caller, dialect }, { db }) => {
    requireKie(dialect);
    return (await readAccountOfCaller(db, caller)).balance;
  },
});

type LinkDeps = WithDb & { readonly resultStore: LinkSigner; readonly retentionMs: number };

const urlError = 'must be a video URL of this service';

const downloadUrl = defineEndpoint({
  operationId: 'kieDownloadUrl',
  route: 'POST /api/v1/common/download-url',
  scope: 'tasks:read',
  changesNothing: true,
  summary: 'Renew a link to a video',
  body: z.object({
    url: z.string({ error: requiredOrInvalidMessage(urlError) }).max(maxUrlLength),
  }),
  data: z.url(),
  failures: ['dialect_required', 'media_deleted'],
  handler: async ({ caller, dialect, input }, deps: LinkDeps) => {
    requireKie(dialect);
    const task = await taskFromUrl(deps, input.url);
    if (task === undefined || task.accountId !== caller.accountId) {
      throw invalidRequest([{ path: 'url', message: urlError }]);
    }
    const [url] = signVideoAndLastFrameLinks(deps.resultStore, task).resultUrls;
    if (url === undefined) throw mediaDeletedError(task, deps.retentionMs);
    return url;
  },
});

const idInPath = new RegExp(`(?<=/)${uuidPattern}(?=/)`);

/** Ignores host and signature of the link, which may be outdated: the caller must own the task anyway. */
async function taskFromUrl({ db }: WithDb, url: string): Promise<Task | undefined> {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const taskId = idInPath.exec(path)?.[0];
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  const isItsVideo = task?.result !== undefined && path.endsWith(`/${task.result.videoKey}`);
  return isItsVideo ? task : undefined;
}

export const kieEndpoints = [credit, downloadUrl];
