import { Clapperboard } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { Model } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useRead, useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/pager.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { type Draft, draftOf, fitted, requestOf, storedDraft, storeDraft } from './playground-form.ts';
import { PlaygroundFields } from './playground-fields.tsx';
import { requestSamples } from './request-samples.ts';
import { TaskFilm } from './task-film.tsx';
import { TaskReceipt } from './task-receipt.tsx';
import { useTask } from './use-task.ts';

export function PlaygroundPage() {
  const { data: catalogue, error, refetch } = useRead('/api/v1/models', {});
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
  const model = models.find(({ model: name }) => name === draft.model) ?? models.at(-1);
  useEffect(() => {
    if (from === undefined || source === undefined) return;
    const again = draftOf(source.task);
    setDraft(again);
    storeDraft(accountId, again);
    set({ from: undefined });
  }, [from, source]);
  const current = fitted(draft, model);
  return {
    draft: current,
    model,
    change: (changes: Partial<Draft>) => {
      const next = { ...current, ...changes };
      setDraft(next);
      storeDraft(accountId, next);
    },
  };
}

function Playground({ models }: { readonly models: readonly Model[] }) {
  const { accountId } = useAccount();
  const { get, set } = useAddress();
  const { draft, model, change } = useDraft(models);
  const { data: account } = useRead('/api/v1/credits', { limit: 1 });
  const viewer = useRoleReason('member');
  const request = requestOf(draft);
  const create = useSend('/api/v1/jobs/createTask', {
    once: (asked) => ({ slot: `create-${accountId}`, of: JSON.stringify(asked) }),
    onDone: ({ taskId }) => {
      set({ task: taskId });
      toast('Accepted: the video is being made');
    },
  });
  const generate = () => {
    if (create.isPending || viewer !== undefined) return;
    create.mutate(request);
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
  const { accountId } = useAccount();
  const { data: timeline, error, refetch } = useTask(taskId);
  if (taskId === undefined) {
    return (
      <section class="card" aria-label="Result">
        <Empty icon={Clapperboard} title="Your video appears here">
          <p>It is charged when it is accepted. If it fails, every credit comes back by itself.</p>
        </Empty>
      </section>
    );
  }
  if (timeline === undefined) {
    return error === null ? (
      <Skeleton height="280px" />
    ) : (
      <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
    );
  }
  return (
    <section class="stack tight" aria-label="Result">
      {timeline.task.state === 'fail' ? (
        <TaskReceipt timeline={timeline} />
      ) : (
        <TaskFilm timeline={timeline} onExpired={() => void refetch()} />
      )}
      <p>
        <Link href={paths.task(accountId, taskId)}>Timeline, ledger and details of this task</Link>
      </p>
      <details class="quiet">
        <summary>The record, as programs read it</summary>
        <div class="body">
          <CodeBlock samples={[{ title: 'recordInfo', text: JSON.stringify(timeline.task, undefined, 2) }]} />
        </div>
      </details>
    </section>
  );
}
