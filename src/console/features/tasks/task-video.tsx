import { CircleAlert } from '../../ui/icons.ts';
import { Trash2 } from '../../ui/icons.ts';
import { Clapperboard } from './icons.ts';
import type { TaskTimeline } from '../../api/contract.ts';
import { Player } from '../../ui/player.tsx';
import { taskWord } from '../../words.ts';
import '../../features/tasks/task.css';

type FilmProps = {
  readonly timeline: TaskTimeline;
  readonly onExpired: () => void;
};

/** The video, or in its place and shape what becomes of it. */
export function TaskFilm({ timeline, onExpired }: FilmProps) {
  const { task, video } = timeline;
  const shape = video === null ? shapeOf(task.param.input.ratio) : `${video.widthPx} / ${video.heightPx}`;
  return (
    <div class="film" style={{ aspectRatio: shape, maxHeight: '72vh' }}>
      {task.state === 'success' ? (
        <Video timeline={timeline} onExpired={onExpired} />
      ) : task.state === 'fail' ? (
        <p class="wait">
          <CircleAlert size={28} aria-hidden="true" />
          <strong>No video</strong>
          <span>The task failed, and its credits were given back.</span>
        </p>
      ) : (
        <Waiting timeline={timeline} />
      )}
    </div>
  );
}

function shapeOf(ratio: string): string {
  return /^\d+:\d+$/.test(ratio) ? ratio.replace(':', ' / ') : '16 / 9';
}

function Video({ timeline: { task, posterUrl }, onExpired }: FilmProps) {
  const [url] = task.resultJson.resultUrls;
  if (url !== undefined) return <Player key={task.taskId} url={url} posterUrl={posterUrl} onExpired={onExpired} />;
  return (
    <p class="wait">
      <Trash2 size={28} aria-hidden="true" />
      <strong>The video was deleted</strong>
      <span>It can no longer be played. The record stays.</span>
    </p>
  );
}

function Waiting({ timeline: { task, aheadOfOwn } }: { readonly timeline: TaskTimeline }) {
  const { word } = taskWord(task);
  const isGenerating = task.state === 'generating';
  return (
    <div class="wait">
      <Clapperboard size={28} aria-hidden="true" />
      <strong>{word}</strong>
      {isGenerating && <span class="number">{task.progress}&nbsp;%</span>}
      <progress class="progress" aria-label="Progress" max={100} {...(isGenerating && { value: task.progress })} />
      <span aria-live="polite">{waitSentence(task.state, aheadOfOwn)}</span>
    </div>
  );
}

function waitSentence(state: string, ahead: number | null): string {
  if (state === 'generating') return 'The page follows it by itself. You can leave; it goes on.';
  if (state === 'waiting' && !(ahead !== null && ahead > 0)) {
    return 'It is accepted and safe. The part of the service that makes videos takes it up by itself.';
  }
  if (ahead !== null && ahead > 0) {
    const own = ahead === 1 ? 'One of your tasks is' : `${ahead} of your tasks are`;
    return `${own} ahead. Accounts take turns.`;
  }
  return 'It begins as soon as a place is free.';
}
