import { Clapperboard } from './icons.ts';
import { useEffect, useState } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import {
  type Draft,
  type DraftChange,
  draftOf,
  fitted,
  requestOf,
  storedDraft,
  storeDraft,
} from './playground-form.ts';
import { PlaygroundFields } from './playground-fields.tsx';
import { fieldsOf } from './playground-schema.ts';
import { requestSamples } from './request-samples.ts';
import { TaskResult } from './playground-result.tsx';
import { useTask } from './use-task.ts';
import '../../features/playground/playground.css';

export function PlaygroundPage() {
  const { data: catalogue, error, refetch } = useRead('/api/v1/models', {}, { everyMs: 15_000 });
  return (
    <Page title="Playground" lead="Describe a video, see its price, and watch it being made.">
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

/** The draft, which begins with the task of `?from=` where one is run again, else with what was typed in this tab. */
function useDraft(models: readonly Model[]) {
  const { accountId } = useAccount();
  const { get, set } = useAddress();
  const from = get('from');
  const { data: source } = useTask(from);
  const [draft, setDraft] = useState(() => storedDraft(accountId));
  const fit = (one: Draft) => {
    const model = models.find(({ model: name }) => name === one.model) ?? models.at(-1);
    return { model, draft: fitted(one, model) };
  };
  const keep = (next: Draft) => {
    setDraft(next);
    storeDraft(accountId, next);
  };
  useEffect(() => {
    if (from === undefined || source === undefined) return;
    keep(draftOf(source.task));
    set({ from: undefined });
  }, [from, source]);
  return {
    ...fit(draft),
    change: (change: DraftChange) => {
      // Not of this drawing: what was typed since is stored.
      const current = storedDraft(accountId);
      const changed = typeof change === 'function' ? change(fit(current).draft) : change;
      keep({ ...current, ...changed, input: { ...current.input, ...changed.input } });
    },
  };
}

function Playground({ models }: { readonly models: readonly Model[] }) {
  const { get, set } = useAddress();
  const { draft, model, change } = useDraft(models);
  const { data: account } = useRead('/api/v1/credits', { limit: 1 });
  const viewer = useRoleReason('member');
  const request = requestOf(draft, model === undefined ? [] : fieldsOf(model));
  const create = useSend('/api/v1/jobs/createTask', {
    isOnce: true,
    onDone: () => toast('Task accepted'),
  });
  const generate = () => {
    if (create.isPending || viewer !== undefined) return;
    create.mutate(request, {
      // Not above: this is left out when the page was left meanwhile.
      onSuccess: ({ taskId }) => set({ task: taskId }),
    });
  };
  return (
    <div class="columns">
      <PlaygroundFields
        models={models}
        model={model}
        draft={draft}
        balance={account?.balance}
        problem={create.error}
        isBusy={create.isPending}
        disabledReason={viewer}
        onChange={change}
        onGenerate={generate}
      />
      <div class="stack sticky">
        <Result taskId={get('task')} />
        <Card title="The same request as code" isFlush>
          <CodeBlock samples={requestSamples(request)} />
        </Card>
      </div>
    </div>
  );
}

function Result({ taskId }: { readonly taskId: string | undefined }) {
  if (taskId !== undefined) return <TaskResult taskId={taskId} />;
  return (
    <section class="card" aria-label="Result">
      <Empty icon={Clapperboard} title="Your video appears here">
        <p>It is charged when it is accepted. If it fails, every credit comes back by itself.</p>
      </Empty>
    </section>
  );
}
