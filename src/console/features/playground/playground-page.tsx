import { useEffect, useRef, useState } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Empty } from '../../ui/empty.tsx';
import { useAddress } from '../../ui/filters.tsx';
import { Clapperboard } from '../../ui/icons.ts';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { useTask } from '../tasks/use-task.ts';
import { type Draft, type DraftChange, draftOf, fitted, requestOf, storedDraft, storeDraft } from './draft.ts';
import { fieldsOf } from './input-schema.ts';
import { PlaygroundForm } from './playground-form.tsx';
import { playgroundText } from './playground-text.ts';
import { requestSamples } from './request-samples.ts';
import { Result } from './result.tsx';

export function PlaygroundPage() {
  const { data: catalogue, error, refetch } = useRead('/api/v1/models', {}, { everyMs: 15_000 });
  return (
    <Page title={playgroundText.title} lead={playgroundText.lead}>
      {error !== null && catalogue === undefined ? (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      ) : catalogue === undefined ? (
        <div class="columns" aria-busy="true">
          <Skeleton height="480px" />
          <Skeleton height="280px" />
        </div>
      ) : (
        <Playground models={catalogue.models} />
      )}
    </Page>
  );
}

function Playground({ models }: { readonly models: readonly Model[] }) {
  const { get, set } = useAddress();
  const { draft, model, change } = useDraft(models);
  const { data: account } = useRead('/api/v1/credits', { limit: 1 });
  const viewerReason = useRoleReason('member');
  const request = requestOf(draft, model === undefined ? [] : fieldsOf(model));
  const create = useSend('/api/v1/jobs/createTask', { isOnce: true, onDone: () => toast(playgroundText.accepted) });
  const taskId = get('task');
  return (
    <div class="columns">
      <PlaygroundForm
        models={models}
        model={model}
        draft={draft}
        balance={account?.balance}
        submission={create}
        disabledReason={viewerReason}
        onChange={change}
        onGenerate={() => {
          // Not in `onDone`: the address stays as it is when the page was left meanwhile.
          if (viewerReason === undefined) create.mutate(request, { onSuccess: (task) => set({ task: task.taskId }) });
        }}
      />
      <div class="stack sticky">
        {taskId !== undefined ? (
          <Result taskId={taskId} />
        ) : (
          <section class="card" aria-label={playgroundText.result}>
            <Empty icon={Clapperboard} title={playgroundText.emptyTitle}>
              <p>{playgroundText.empty}</p>
            </Empty>
          </section>
        )}
        <Card title={playgroundText.code} isFlush>
          <CodeBlock samples={requestSamples(request)} />
        </Card>
      </div>
    </div>
  );
}

/** The draft, which begins with the task of `?from=` if one is run again, else with what was typed in this tab. */
function useDraft(models: readonly Model[]) {
  const { accountId } = useAccount();
  const { get, set } = useAddress();
  const from = get('from');
  const { data: source } = useTask(from);
  const [draft, setDraft] = useState(() => storedDraft(accountId));
  const latest = useRef(draft);
  latest.current = draft;
  const fit = (one: Draft) => {
    const model = models.find(({ model: name }) => name === one.model) ?? models.at(-1);
    return { model, draft: fitted(one, model) };
  };
  useEffect(() => {
    if (from === undefined || source === undefined) return;
    setDraft(draftOf(source.task));
    set({ from: undefined });
  }, [from, source]);
  const requested = get('model');
  useEffect(() => {
    if (requested === undefined) return;
    setDraft((current) => ({ ...current, model: requested }));
    set({ model: undefined });
  }, [requested]);
  useEffect(() => {
    const store = () => storeDraft(accountId, latest.current);
    addEventListener('pagehide', store);
    return () => {
      removeEventListener('pagehide', store);
      store();
    };
  }, [accountId]);
  return {
    ...fit(draft),
    // A function of the current draft: an upload ends long after the render in which it began.
    change: (change: DraftChange) =>
      setDraft((current) => {
        const changed = typeof change === 'function' ? change(fit(current).draft) : change;
        return { ...current, ...changed, input: { ...current.input, ...changed.input } };
      }),
  };
}
