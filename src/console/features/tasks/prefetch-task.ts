import type { QueryClient } from '@tanstack/preact-query';
import { readQuery } from '../../api/queries.ts';

const taskPage = /^\/a\/([^/]+)\/tasks\/([^/]+)$/;

/**
 * Reads the task of a page that is opened directly, and the first frame of its video, while the session and the code of the page are
 * still loaded. Without a session, the service refuses it.
 */
export function prefetchTask(client: QueryClient, path: string): void {
  const [, account, taskId] = taskPage.exec(path) ?? [];
  if (account === undefined || taskId === undefined) return;
  const query = readQuery(account, '/api/v1/jobs/timeline', { taskId: decodeURIComponent(taskId) });
  void client.prefetchQuery(query).then(() => {
    const posterUrl = client.getQueryData(query.queryKey)?.posterUrl;
    if (typeof posterUrl === 'string') new Image().src = posterUrl;
  });
}
