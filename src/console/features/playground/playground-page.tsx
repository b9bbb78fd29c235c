import { useState } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { Card, Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { useNow } from '../../ui/times-and-durations.tsx';
import { isLive, useParallelTasks } from '../tasks/detail/use-task.ts';
import { maxVariants, taskRequestOf } from './draft/draft.ts';
import { PromptHistoryCard } from './results/prompt-history-card.tsx';
import { inputFieldsOf } from './form/form-fields-from-input-schema.ts';
import { useProgressTitleAndNotify } from './results/notify-when-done-and-progress-title.tsx';
import { usePendingMedia } from './media/use-reasons-to-wait-for-media.ts';
import { PlaygroundForm } from './form/playground-form.tsx';
import { playgroundText } from './playground-text.ts';
import { requestSamples } from './request-samples.ts';
import { PlaygroundResults } from './results/playground-results.tsx';
import { useDraft } from './draft/use-draft.ts';
import { useLoadUploadPreviews } from './media/upload-previews-and-expiry.ts';
import {
  type AcceptedVariant,
  type VariantBatchResult,
  type NotAcceptedVariant,
  useCreateVariantTasks,
} from './use-create-and-retry-variant-tasks.ts';
import { variantsOf } from './form/variants.ts';

const noModels: readonly Model[] = [];

/** Announced prices begin while the form is open; the models are read again at this pace, too. */
const priceMs = 15_000;

export function PlaygroundPage() {
  const catalogue = useRead('/api/v1/models', {}, { everyMs: priceMs });
  const models = catalogue.data?.models ?? noModels;
  const shown = useShownTasks();
  const { draft, model, change, fill } = useDraft(models);
  useLoadUploadPreviews(draft);
  const now = useNow(priceMs);
  const { submission, seeds } = useCreateVariantTasks();
  const pending = usePendingMedia();
  const { data: account } = useRead('/api/v1/credits', { limit: 1 });
  const missing = model === undefined || models.includes(model) ? undefined : playgroundText.modelMissing;
  const disabledReason = useNotAllowedReason('member') ?? missing ?? pending.reason;
  const variants = model === undefined ? [] : variantsOf({ draft, model, models, now }, seeds);
  const request = taskRequestOf(draft, model === undefined ? [] : inputFieldsOf(model));
  const { taskIds, reads, views } = shown;
  return (
    <Page lead={playgroundText.lead} tabTitle={useProgressTitleAndNotify(views, taskIds.length)}>
      <div class="columns playground">
        <Loaded of={catalogue} heights={[480]}>
          {() => (
            <PlaygroundForm
              models={models}
              model={model}
              draft={draft}
              variants={variants}
              balance={account?.balance}
              submission={submission}
              disabledReason={disabledReason}
              onPending={pending.onPending}
              onChange={change}
              // It is not called when the page was left meanwhile: its address is another one then.
              onGenerate={() => submission.mutate(variants, { onSuccess: shown.show })}
            />
          )}
        </Loaded>
        <div class="stack">
          <PlaygroundResults
            taskIds={taskIds}
            reads={reads}
            models={models}
            partly={shown.partly}
            onRetried={shown.retried}
            onRunAgain={shown.ranAgain}
            onEdit={({ task }) => fill(task)}
            onClear={shown.clear}
          />
          <PromptHistoryCard models={models} onChosen={fill} />
          {model !== undefined && (
            <Card title={playgroundText.code} isFlush>
              <CodeBlock samples={requestSamples(request)} />
            </Card>
          )}
        </div>
      </div>
    </Page>
  );
}

/** The tasks of the address, so that a reload shows them again, and what was refused beside them. */
function useShownTasks() {
  const { get, set } = useUrlParameters();
  const [partly, setPartly] = useState<VariantBatchResult>();
  const given = get('tasks');
  const taskIds = taskIdsOf(given);
  const reads = useParallelTasks(taskIds);
  const views = reads.flatMap(({ data }) => (data === undefined ? [] : [data]));
  // Two tasks may be accepted at about the same time, so each is added to the current ones of the address.
  const changeTasks = (change: (ids: readonly string[]) => readonly string[]) =>
    set({ tasks: change(taskIdsOf(new URLSearchParams(location.search).get('tasks'))).join() });
  return {
    taskIds,
    reads,
    views,
    partly,
    show: (batch: VariantBatchResult) => {
      setPartly(batch.refused.length === 0 ? undefined : batch);
      changeTasks(() => batch.accepted.map(({ taskId }) => taskId));
    },
    clear: () => {
      setPartly(undefined);
      changeTasks(() => []);
    },
    retried: ({ key }: NotAcceptedVariant, accepted: AcceptedVariant) => {
      setPartly(
        (before) =>
          before && {
            accepted: [...before.accepted, accepted],
            refused: before.refused.filter((one) => one.key !== key),
          },
      );
      changeTasks((ids) => [...ids, accepted.taskId]);
    },
    /** A new task stands beside its source, or replaces it if that failed or the row is full. */
    ranAgain: (source: string, taskId: string) => {
      const hasFailed = views.some(({ task }) => task.taskId === source && !isLive(task) && task.state === 'fail');
      changeTasks((ids) => {
        const isReplaced = hasFailed || ids.length >= maxVariants;
        return ids.flatMap((one) => (one !== source ? [one] : isReplaced ? [taskId] : [one, taskId]));
      });
    },
  };
}

function taskIdsOf(text: string | null | undefined): readonly string[] {
  return [...new Set(text?.split(','))].filter(Boolean).slice(0, maxVariants);
}
