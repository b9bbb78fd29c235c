import type { Router } from '@koa/router';
import { z } from 'zod';
import type { Task } from '../../domain/task.ts';
import { resultUrls } from '../../media/result-urls.ts';
import { findTask } from '../../stores/tasks.ts';
import type { HttpDeps } from '../http-deps.ts';
import { HttpFailure } from '../http-failure.ts';
import { invalidRequest } from '../invalid-request.ts';
import { authenticate } from '../middleware/authenticate.ts';
import { checkAnswers } from '../middleware/check-answers.ts';
import { limitReads } from '../middleware/limit-reads.ts';
import { readJson } from '../middleware/read-json.ts';
import { requireScope } from '../middleware/require-scope.ts';
import { validateBody, type WithInput } from '../middleware/validate-body.ts';
import { bodyFailures, keyFailures, type Operation } from '../operation.ts';
import type { Context, Extras, RequestState, WithBody, WithCaller } from '../request-state.ts';
import { requireKie } from './require-kie.ts';
import { succeedWith } from './succeed-with.ts';

const urlError = 'must be the address of a video that this service has given you';

const body = z.object({
  url: z
    .string({ error: ({ input }) => (input === undefined ? 'is required' : urlError) })
    .max(4096, { error: urlError }),
});
type Input = z.output<typeof body>;

export const downloadUrlOperation: Operation = {
  operationId: 'kieDownloadUrl',
  method: 'post',
  path: '/api/v1/common/download-url',
  tag: 'kie',
  summary: 'A fresh link to a video, for one that may have expired',
  key: 'tasks:read',
  body: () => body,
  data: z.url(),
  failures: [...keyFailures, ...bodyFailures, 'dialect_required', 'media_gone'],
};

/** `POST /api/v1/common/download-url {url}`. */
export function downloadUrlRoute(router: Router<RequestState, Extras>, deps: HttpDeps): void {
  router.post<WithCaller & WithBody & WithInput<Input>>(
    downloadUrlOperation.path,
    checkAnswers(downloadUrlOperation, deps.checkAnswers),
    authenticate(deps),
    requireKie,
    limitReads(deps),
    requireScope('tasks:read'),
    readJson,
    validateBody(body),
    (ctx) => freshLink(ctx, deps),
  );
}

async function freshLink(ctx: Context<WithCaller & WithInput<Input>>, deps: HttpDeps): Promise<void> {
  const { caller, input } = ctx.state;
  const task = await taskOfLink(deps, input.url);
  if (task === undefined || task.accountId !== caller.accountId) {
    throw invalidRequest([{ path: 'url', message: urlError }]);
  }
  const [url] = await resultUrls(deps.resultStore, task);
  if (url === undefined) throw new HttpFailure('media_gone');
  succeedWith(ctx, url);
}

const uuid = /(?<=\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\/)/;

/**
 * The task whose video a link leads to. Neither host nor signature counts: the service may have moved, the link is to
 * be replaced, and the owner of the task gets nothing but the task's own video.
 */
async function taskOfLink({ db }: HttpDeps, url: string): Promise<Task | undefined> {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const taskId = uuid.exec(path)?.[0];
  const task = taskId === undefined ? undefined : await findTask(db, taskId);
  const isItsVideo = task?.result !== undefined && path.endsWith(`/${task.result.videoKey}`);
  return isItsVideo ? task : undefined;
}
