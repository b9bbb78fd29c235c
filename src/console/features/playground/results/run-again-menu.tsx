import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Model, TaskRequest } from '../../../api/contract.ts';
import { useSend } from '../../../api/read-and-send-hooks.ts';
import { useNotAllowedReason } from '../../../api/session.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { RefreshCw } from '../../../ui/controls/icons.ts';
import { Menu } from '../../../ui/controls/menu.tsx';
import { formatCredits } from '../../../ui/number-formats.tsx';
import { useNow } from '../../../ui/times-and-durations.tsx';
import { toast, toastFailure } from '../../../ui/feedback/toast.tsx';
import type { TaskView } from '../../tasks/detail/use-task.ts';
import { draftFromTask, emptyDraft, fittedDraft, taskRequestOf } from '../draft/draft.ts';
import { inputFieldsOf, withFieldValue } from '../form/form-fields-from-input-schema.ts';
import { computePriceNowAndNext } from '../form/price-now-and-next.ts';
import { playgroundText } from '../playground-text.ts';
import { randomSeed } from '../form/variants.ts';
import { seedField } from '../form/variants.ts';

type AgainProps = {
  readonly view: TaskView;
  readonly models: readonly Model[];
  readonly onAccepted: (taskId: string) => void;
  readonly onEdit: () => void;
};

/** Announced prices begin while the page is open. */
const priceMs = 15_000;

/** Generates the same input once more, with the price in the menu, or fills the form with it. */
export function RunAgainMenu({ view, models, onAccepted, onEdit }: AgainProps) {
  const { task, contentDeleteTime } = view;
  const model = models.find((one) => one.model === task.model);
  // The same until it is accepted, so that a retry is the same request.
  const [seed, setSeed] = useState(randomSeed);
  const create = useSend('/api/v1/jobs/createTask', {
    isOnce: true,
    onDone: () => {
      toast(playgroundText.accepted(1));
      setSeed(randomSeed());
    },
  });
  const memberReason = useNotAllowedReason('member');
  const atMs = useNow(priceMs);
  const reason =
    memberReason ??
    (contentDeleteTime !== null
      ? playgroundText.contentDeleted
      : model === undefined
        ? playgroundText.modelMissing
        : undefined);
  if (reason !== undefined || model === undefined || create.isPending) {
    return (
      <Button disabledReason={reason} busy={create.isPending}>
        <RefreshCw size={16} aria-hidden="true" /> {playgroundText.runAgain}
      </Button>
    );
  }
  const { now, total } = computePriceNowAndNext(model, repeated(task, model, undefined).input, atMs);
  const price = now === undefined ? playgroundText.noPrice : formatCredits(total);
  const field = seedField(model);
  const send = (newSeed: number | undefined) =>
    create.mutate(repeated(task, model, newSeed), {
      onSuccess: ({ taskId }) => onAccepted(taskId),
      onError: toastFailure,
    });
  return (
    <Menu
      label={playgroundText.runAgain}
      triggerClass="button"
      hasWords
      trigger={
        <>
          <RefreshCw size={16} aria-hidden="true" /> {playgroundText.runAgain}
        </>
      }
    >
      {now !== undefined && (
        <button type="button" onKeyDown={ignoreRepeat} onClick={() => send(undefined)}>
          {playgroundText.sameInput} · {price}
        </button>
      )}
      {now !== undefined && field !== undefined && (
        <button type="button" onKeyDown={ignoreRepeat} onClick={() => send(seed)}>
          {playgroundText.newSeed} · {price}
        </button>
      )}
      <button type="button" onClick={onEdit}>
        {playgroundText.edit}
      </button>
    </Menu>
  );
}

/** Holding Enter on the trigger opens the menu and moves the focus to a button that charges: its repeats would click that one. */
function ignoreRepeat(event: JSX.TargetedKeyboardEvent<HTMLButtonElement>): void {
  if (event.repeat && event.key === 'Enter') event.preventDefault();
}

/** The request of the task as its model takes it today. */
function repeated(task: TaskView['task'], model: Model, seed: number | undefined): TaskRequest {
  const draft = fittedDraft({ ...emptyDraft, ...draftFromTask(task) }, model);
  const field = seedField(model);
  if (seed === undefined || field?.control.kind !== 'number') return taskRequestOf(draft, inputFieldsOf(model));
  const { min = 0, max = seed } = field.control;
  const input = withFieldValue(draft.input, field, min + (seed % (max - min + 1)));
  return taskRequestOf({ ...draft, input }, inputFieldsOf(model));
}
