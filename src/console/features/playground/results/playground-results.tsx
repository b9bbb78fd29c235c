import { useState } from 'preact/hooks';
import type { Model } from '../../../api/contract.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { CodeBlock } from '../../../ui/controls/code-block.tsx';
import { Empty } from '../../../ui/feedback/empty.tsx';
import { Clapperboard } from '../../../ui/controls/icons.ts';
import { Notice } from '../../../ui/feedback/notice-and-error-box.tsx';
import { Loaded } from '../../../ui/feedback/loaded-or-read-error.tsx';
import { isLive, type TaskView, type useParallelTasks } from '../../tasks/detail/use-task.ts';
import { NotifyButton } from './notify-when-done-and-progress-title.tsx';
import { useSyncedPlayback } from './synced-playback.ts';
import { PlaybackBar } from './playback-bar.tsx';
import { playgroundText } from '../playground-text.ts';
import { RefusedCard } from './refused-card.tsx';
import type { AcceptedVariant, VariantBatchResult, NotAcceptedVariant } from '../use-create-and-retry-variant-tasks.ts';
import { VariantCard } from './variant-card.tsx';

type ResultsProps = {
  readonly taskIds: readonly string[];
  readonly reads: ReturnType<typeof useParallelTasks>;
  readonly models: readonly Model[];
  /** The outcome of the last form that was sent from this page, if a part of it was refused. */
  readonly partly: VariantBatchResult | undefined;
  readonly onRetried: (refused: NotAcceptedVariant, accepted: AcceptedVariant) => void;
  readonly onRunAgain: (source: string, taskId: string) => void;
  readonly onEdit: (view: TaskView) => void;
  readonly onClear: () => void;
};

/** The videos that are made or were made here, side by side: what can be compared plays together. */
export function PlaygroundResults(props: ResultsProps) {
  const { taskIds, reads, partly, onRetried, onClear } = props;
  const playback = useSyncedPlayback();
  const [audible, setAudible] = useState<string>();
  const views = reads.flatMap(({ data }) => (data === undefined ? [] : [data]));
  const films = views.filter(({ task }) => task.resultJson.resultUrls.length > 0);
  const isMany = taskIds.length > 1;
  const refused = partly?.refused ?? [];
  if (taskIds.length + refused.length === 0) {
    return (
      <section class="card" aria-label={playgroundText.result}>
        <Empty icon={Clapperboard} title={playgroundText.emptyTitle} text={playgroundText.empty} />
      </section>
    );
  }
  return (
    <section class="stack tight" aria-label={isMany ? playgroundText.results : playgroundText.result}>
      <ResultsHead views={views} count={taskIds.length} onClear={onClear} />
      {partly !== undefined && refused.length > 0 && <PartlyNotice partly={partly} />}
      {isMany && films.length > 0 && (
        <PlaybackBar
          playback={playback}
          onSound={() => setAudible(audible === undefined ? films[0]?.task.taskId : undefined)}
        />
      )}
      <div class={isMany || refused.length > 0 ? 'variants' : 'stack'}>
        {taskIds.map((taskId, index) => {
          const read = reads[index];
          return (
            read && (
              <Loaded key={taskId} of={read} heights={[200]}>
                {(view) => (
                  <VariantCard
                    {...props}
                    view={view}
                    label={labelOf(view, views, index, props.models)}
                    isAlone={!isMany}
                    shared={isMany ? { film: playback.filmOf(taskId), isMuted: audible !== taskId } : undefined}
                    onSound={() => setAudible(audible === taskId ? undefined : taskId)}
                    onExpired={() => void read.refetch()}
                  />
                )}
              </Loaded>
            )
          );
        })}
        {refused.map((one) => (
          <RefusedCard key={one.key} refused={one} onAccepted={(accepted) => onRetried(one, accepted)} />
        ))}
      </div>
      {!isMany && views[0] !== undefined && <TaskJson view={views[0]} />}
    </section>
  );
}

type HeadProps = { readonly views: readonly TaskView[]; readonly count: number; readonly onClear: () => void };

function ResultsHead({ views, count, onClear }: HeadProps) {
  const ended = views.filter(({ task }) => !isLive(task)).length;
  return (
    <header class="results-head">
      <span class="soft" aria-live="polite">
        {count > 1 && playgroundText.doneOf(ended, count)}
      </span>
      <span class="row">
        {ended < views.length && <NotifyButton />}
        <Button size="small" variant="quiet" onClick={onClear}>
          {playgroundText.clear}
        </Button>
      </span>
    </header>
  );
}

function PartlyNotice({ partly: { accepted, refused } }: { readonly partly: VariantBatchResult }) {
  const charged = accepted.reduce((sum, { creditsCharged }) => sum + creditsCharged, 0);
  return (
    <Notice
      tone="warn"
      title={playgroundText.partlyTitle(refused.length, accepted.length + refused.length)}
      isAlert
      text={playgroundText.partly(accepted.length, charged)}
    />
  );
}

/** Returns the difference between the videos: the model, the seed, or only their order. */
function labelOf({ task }: TaskView, all: readonly TaskView[], index: number, models: readonly Model[]): string {
  const alike = all.filter((one) => one.task.model === task.model).length;
  const { seed } = task.param.input;
  const variant = seed === undefined ? playgroundText.variant(index + 1) : playgroundText.seed(seed);
  if (alike === all.length) return variant;
  const title = models.find(({ model }) => model === task.model)?.title ?? task.model;
  return alike === 1 ? title : `${title} · ${variant}`;
}

function TaskJson({ view }: { readonly view: TaskView }) {
  return (
    <details>
      <summary>{playgroundText.record}</summary>
      <div class="body">
        <CodeBlock samples={[{ title: 'recordInfo', text: JSON.stringify(view.task, undefined, 2) }]} />
      </div>
    </details>
  );
}
