import { Context } from '@temporalio/activity';
import { join } from 'node:path';
import { TaskFault } from '../src/domain/task-fault.ts';
import type { TaskResult } from '../src/domain/task.ts';
import { withActivityFailures } from './activity-failure.ts';
import type { ActivityDeps } from './deps.ts';
import type { StagedVideo } from './generate-video.ts';
import { withKeepAlive } from './keep-alive.ts';
import { mediaKeysOf } from './media-keys.ts';
import { withWorkFolder } from './work-folder.ts';

/**
 * Puts the video into our own store, checks that it plays, measures it and makes its poster. The keys are the same on
 * every retry, so a retry overwrites its own work.
 */
export function createStoreResult(deps: ActivityDeps) {
  return ({ taskId, staged }: { taskId: string; staged: StagedVideo }): Promise<TaskResult> =>
    withActivityFailures(() =>
      withKeepAlive(() =>
        withWorkFolder(deps.workFolder, `${taskId}-result`, (folder) => store(deps, taskId, staged, folder)),
      ),
    );
}

async function store(deps: ActivityDeps, taskId: string, staged: StagedVideo, folder: string): Promise<TaskResult> {
  const signal = Context.current().cancellationSignal;
  const videoPath = join(folder, 'video.mp4');
  const posterPath = join(folder, 'poster.jpg');
  const { video: videoKey, poster: posterKey } = mediaKeysOf(taskId);
  await fetchVideo(deps, [staged.key, videoKey], videoPath);
  const measured = await deps.inspectVideo(videoPath, posterPath, signal);
  await Promise.all([
    deps.media.put(videoKey, videoPath, 'video/mp4'),
    deps.media.put(posterKey, posterPath, 'image/jpeg'),
  ]);
  await deps.media.delete(staged.key);
  return { videoKey, posterKey, ...measured };
}

/** From where it was staged; an attempt that was lost after its last step has moved it to its final key already. */
async function fetchVideo(deps: ActivityDeps, keys: readonly string[], videoPath: string): Promise<void> {
  for (const key of keys) if (await deps.media.fetchTo(key, videoPath)) return;
  throw new TaskFault('result_invalid', 'The generated video was lost before it could be stored.');
}
