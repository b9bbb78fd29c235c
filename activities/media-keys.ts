/** Where a task's files lie in the result store: the same keys on every retry, so that a retry overwrites its own work. */
export type MediaKeys = {
  readonly staged: string;
  readonly stagedPoster: string;
  readonly video: string;
  readonly poster: string;
};

export function mediaKeysOf(taskId: string): MediaKeys {
  return {
    staged: `staging/${taskId}/video.mp4`,
    stagedPoster: `staging/${taskId}/poster.jpg`,
    video: `results/${taskId}/video.mp4`,
    poster: `results/${taskId}/poster.jpg`,
  };
}
