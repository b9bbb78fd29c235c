import { useEffect, useRef, useState } from 'preact/hooks';
import type { Model, TaskRecord } from '../../../api/contract.ts';
import { useAccount, useMe } from '../../../api/session.ts';
import { useUrlParameters } from '../../../ui/lists/filter-bar-and-url-parameters.tsx';
import { useTask } from '../../tasks/detail/use-task.ts';
import { type Draft, type DraftChange, draftFromTask, fittedDraft, mergeInputValues } from './draft.ts';
import { readStoredOrEmptyDraft, storeDraft } from './draft-store.ts';

/** The draft, which begins with the task of `?from=` or the model of `?model=`, else with what was typed last in this browser. */
export function useDraft(models: readonly Model[]) {
  const owner = useDraftOwner();
  const { get, set } = useUrlParameters();
  const from = get('from');
  const { data: source } = useTask(from);
  const [draft, setDraft] = useState(() => readStoredOrEmptyDraft(owner));
  const shown = useRef<Model>();
  const fit = (one: Draft) => {
    const found = one.model === '' ? models.at(-1) : models.find(({ model: name }) => name === one.model);
    shown.current = found ?? shown.current;
    // A model may be unavailable for a while. Its form stays, because another model has another price.
    const model = found ?? (shown.current?.model === one.model ? shown.current : undefined);
    return { model, draft: fittedDraft(one, model) };
  };
  const fill = (task: Pick<TaskRecord, 'param'>) => setDraft((current) => ({ ...current, ...draftFromTask(task) }));
  useEffect(() => {
    if (from === undefined || source === undefined) return;
    fill(source.task);
    set({ from: undefined });
  }, [from, source]);
  const given = get('model');
  useEffect(() => {
    if (given === undefined) return;
    setDraft((current) => ({ ...current, model: given }));
    set({ model: undefined });
  }, [given]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) storeDraft(owner, draft);
    isFirst.current = false;
  }, [draft]);
  return {
    ...fit(draft),
    fill,
    // A function of the current draft: an upload ends long after the render in which it began.
    change: (change: DraftChange) =>
      setDraft((current) => {
        const { draft: seen } = fit(current);
        // An upload may end after another model was chosen, whose form leaves out the field and its other files.
        const whole = { ...seen, input: mergeInputValues(current.input, seen.input) };
        const changed = typeof change === 'function' ? change(whole) : change;
        // The first change also chooses the model that is shown, so that a change of the catalogue does not replace it.
        return { ...current, model: seen.model, ...changed };
      }),
  };
}

function useDraftOwner() {
  const { accountId } = useAccount();
  const { data: me } = useMe();
  return { userId: me?.user.userId ?? '', accountId };
}
