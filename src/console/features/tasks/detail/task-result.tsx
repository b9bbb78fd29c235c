import type { Icon } from '../../../ui/controls/icon.ts';
import { Clapperboard, Trash2 } from '../../../ui/controls/icons.ts';
import { Player, type ExternalControlProps } from '../../../ui/player.tsx';
import { TaskFailureReceipt } from './task-failure-receipt.tsx';
import { tasksText, wordAndToneOfTask } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';
import './task.css';

type ResultProps = {
  readonly view: TaskView;
  readonly onExpired: () => void;
  readonly shared?: ExternalControlProps | undefined;
};

/** The video in its shape, the progress of its generation, or the receipt of a failure. */
export function TaskResult({ view, onExpired, shared }: ResultProps) {
  const { task, posterUrl } = view;
  if (task.state === 'fail') return <TaskFailureReceipt view={view} />;
  const { resultUrls, video } = task.resultJson;
  const [url] = resultUrls;
  const shape = video === undefined ? shapeOf(task.param.input.ratio) : `${video.width} / ${video.height}`;
  return (
    <div class="film" style={{ aspectRatio: shape, maxHeight: '72vh' }}>
      {task.state !== 'success' ? (
        <Progress view={view} />
      ) : url === undefined ? (
        <NoVideo icon={Trash2} title={tasksText.videoDeleted} text={tasksText.videoDeletedBecause} />
      ) : (
        <Player key={task.taskId} url={url} posterUrl={posterUrl} onExpired={onExpired} shared={shared} />
      )}
    </div>
  );
}

function shapeOf(ratio: string): string {
  return /^\d+:\d+$/.test(ratio) ? ratio.replace(':', ' / ') : '16 / 9';
}

function NoVideo({ icon: Icon, title, text }: { readonly icon: Icon; readonly title: string; readonly text: string }) {
  return (
    <p class="wait">
      <Icon size={28} aria-hidden="true" />
      <strong>{title}</strong>
      <span>{text}</span>
    </p>
  );
}

function Progress({ view: { task, aheadOfOwn } }: { readonly view: TaskView }) {
  const isGenerating = task.state === 'generating';
  return (
    <div class="wait">
      <Clapperboard size={28} aria-hidden="true" />
      <strong>{wordAndToneOfTask(task).word}</strong>
      {isGenerating && <span class="number">{task.progress}&nbsp;%</span>}
      <progress
        class="progress"
        aria-label={tasksText.progress}
        max={100}
        {...(isGenerating && { value: task.progress })}
      />
      <span aria-live="polite">{sentenceOf(task.state, aheadOfOwn ?? 0)}</span>
    </div>
  );
}

function sentenceOf(state: string, ahead: number): string {
  if (state === 'generating') return tasksText.generating;
  if (ahead > 0) return tasksText.ahead(ahead);
  return state === 'waiting' ? tasksText.waiting : tasksText.queued;
}
