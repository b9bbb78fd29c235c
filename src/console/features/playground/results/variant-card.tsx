import { Link } from 'wouter-preact';
import type { Model } from '../../../api/contract.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { Volume2, VolumeX } from '../../../ui/controls/icons.ts';
import { formatCredits } from '../../../ui/number-formats.tsx';
import type { ExternalControlProps } from '../../../ui/player.tsx';
import { formatDuration, useNow } from '../../../ui/times-and-durations.tsx';
import { CancelTaskButton, DownloadLink } from '../../tasks/detail/task-cost-and-actions.tsx';
import { TaskResult } from '../../tasks/detail/task-result.tsx';
import { tasksText } from '../../tasks/tasks-text.ts';
import { isLive, type TaskView } from '../../tasks/detail/use-task.ts';
import { useTaskPagePaths } from '../../tasks/detail/use-task-page-paths.ts';
import { playgroundText } from '../playground-text.ts';
import { RunAgainMenu } from './run-again-menu.tsx';

type CardProps = {
  readonly view: TaskView;
  readonly label: string;
  readonly isAlone: boolean;
  readonly models: readonly Model[];
  readonly shared: ExternalControlProps | undefined;
  readonly onSound: () => void;
  readonly onExpired: () => void;
  readonly onRunAgain: (source: string, taskId: string) => void;
  readonly onEdit: (view: TaskView) => void;
};

/** One video with its progress, cost and time, and what can be done with it. */
export function VariantCard(props: CardProps) {
  const { view, label, isAlone, models, shared, onSound, onExpired, onRunAgain, onEdit } = props;
  const { of } = useTaskPagePaths();
  const { task } = view;
  const { resultUrls, video } = task.resultJson;
  const [url] = resultUrls;
  return (
    <article class="variant" aria-label={label}>
      {!isAlone && (
        <header>
          <h2>{label}</h2>
          {shared !== undefined && url !== undefined && video?.hasAudio === true && (
            <Button
              variant="quiet"
              size="small icon"
              aria-pressed={!shared.isMuted}
              aria-label={shared.isMuted ? playgroundText.soundOn(label) : playgroundText.soundOff(label)}
              onClick={onSound}
            >
              {shared.isMuted ? <VolumeX size={14} /> : <Volume2 size={14} />}
            </Button>
          )}
        </header>
      )}
      <TaskResult view={view} onExpired={onExpired} shared={shared} />
      <p class="cost soft number">
        <span>
          <CostAndTime view={view} />
        </span>
        <Link href={of(task.taskId)}>{playgroundText.toTask}</Link>
      </p>
      <div class="row">
        <CancelTaskButton view={view} />
        <DownloadLink url={url} label={tasksText.download} />
        <RunAgainMenu
          view={view}
          models={models}
          onAccepted={(taskId) => onRunAgain(task.taskId, taskId)}
          onEdit={() => onEdit(view)}
        />
      </div>
    </article>
  );
}

function CostAndTime({ view: { task } }: { readonly view: TaskView }) {
  const { creditsCharged, creditsRefunded, createTime, completeTime } = task;
  const cost = formatCredits(creditsCharged - creditsRefunded);
  return (
    <>
      {creditsRefunded > 0 && <s class="faint">{formatCredits(creditsCharged)}</s>}{' '}
      {creditsRefunded === creditsCharged ? playgroundText.refunded : cost} ·{' '}
      {isLive(task) || completeTime === null ? (
        <Elapsed sinceMs={createTime} />
      ) : (
        playgroundText.took(formatDuration(completeTime - createTime), task.state === 'success')
      )}
    </>
  );
}

function Elapsed({ sinceMs }: { readonly sinceMs: number }) {
  const now = useNow(1000);
  // The clock of the reader may be behind that of the service.
  const seconds = Math.max(0, Math.floor((now - sinceMs) / 1000));
  return <>{playgroundText.running(seconds < 60 ? `${seconds}\u00A0s` : formatDuration(seconds * 1000))}</>;
}
