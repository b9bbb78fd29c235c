import { z } from 'zod';
import { howToGetKieKey } from '../../dialects/kie-request.ts';
import type { Dialect } from '../../domain/api-key.ts';
import type { Task } from '../../domain/task.ts';
import { uuidPattern } from '../../domain/uuid.ts';
import { resultUrls } from '../../media/signed-link.ts';
import { findTask } from '../../stores/tasks.ts';
import { ownAccount } from '../authentication.ts';
import { defineEndpoint } from '../define-endpoint.ts';
import { mediaGone } from '../media-gone.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpError, invalidRequest, maxUrlLength } from '../errors.ts';
import { required } from '../fields.ts';

function requireKie(dialect: Dialect): void {
  if (dialect === 'kie') return;
  throw new HttpError('dialect_required', { msg: `this endpoint belongs to the dialect kie; ${howToGetKieKey}` });
}

const credit = defineEndpoint({
  operationId: 'kieGetCredit',
  route: 'GET /api/v1/chat/credit',
  scope: 'credits:read',
  summary: 'The balance, as a bare number',
  data: z.int().nonnegative(),
  failures: ['dialect_required'],
  handler: async ({ caller, dialect }, { db }) => {
    requireKie(dialect);
    return (await ownAccount(db, caller)).balance;
  },
});

const urlError = 'must be the address of a video that this service has given you';

const downloadUrl = defineEndpoint({
  operationId: 'kieDownloadUrl',
  route: 'POST /api/v1/common/download-url',
  scope: 'tasks:read',
  summary: 'A fresh link to a video, for one that may have expired',
  body: z.object({
    url: z.string({ error: required(urlError) }).max(maxUrlLength),
  }),
  data: z.url(),
  failures: ['dialect_required', 'media_deleted'],
  handler: async ({ caller, dialect, input }, deps) => {
    requireKie(dialect);
    const task = await taskOfLink(deps, input.url);
    if (task === undefined || task.accountId !== caller.accountId) {
      throw invalidRequest([{ path: 'url', message: urlError }]);
    }
    const [url] = resultUrls(deps.resultStore, task);
    if (url === undefined) throw mediaGone(task, deps.retentionMs);
    return url;
  },
});

const idInPath = new RegExp(`(?<=/)${uuidPattern}(?=/)`);

/** The task whose video a link leads to, whatever its host and signature: its owner gets nothing but the task's own video. */
async function taskOfLink({ db }: HttpDeps, url: string): Promise<Task | undefined> {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const taskId = idInPath.exec(path)?.[0];
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  const isItsVideo = task?.result !== undefined && path.endsWith(`/${task.result.videoKey}`);
  return isItsVideo ? task : undefined;
}

export const kieEndpoints = [credit, downloadUrl];
