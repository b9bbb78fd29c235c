import { failureOf, problemOf } from '../../api/problem.ts';
import { useIsOperator } from '../../api/session.ts';
import { accountPages } from '../../pages.ts';
import { StateDot } from '../../ui/badge.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { CopyButton, shortId } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Film } from '../../ui/icons.ts';
import { ErrorBox } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { CallbackCard } from '../callbacks/callback-card.tsx';
import { storePreview } from './media-thumbnail.tsx';
import { RequestCard } from './request-card.tsx';
import { TaskBar } from './task-actions.tsx';
import { DetailsCard, LedgerCard } from './task-cards.tsx';
import { TaskJobs } from './task-jobs.tsx';
import { TaskResult } from './task-result.tsx';
import { TaskTimeline } from './task-timeline.tsx';
import { tasksText, taskWord } from './tasks-text.ts';
import { type TaskView, useTask, useTaskPaths } from './use-task.ts';

/** One task, for its account and for operators. */
export function TaskPage({ id }: { readonly id: string }) {
  const isOperator = useIsOperator();
  const { data: view, error, refetch } = useTask(id);
  const back = { href: useTaskPaths().list, label: accountPages.tasks.title };
  if (view !== undefined) return <TaskContent view={view} back={back} onExpired={() => void refetch()} />;
  return (
    <Page title={tasksText.task} back={back}>
      {error === null ? (
        <div class="columns wide-left" aria-busy="true">
          <Skeleton height="320px" />
          <Skeleton height="240px" />
        </div>
      ) : [404, 422].includes(problemOf(error).status) ? (
        <Empty icon={Film} title={tasksText.notFoundTitle}>
          <p>{isOperator ? tasksText.notFoundOfOperators : tasksText.notFound}</p>
          <div class="row">
            <LinkButton href={back.href}>{tasksText.seeAll}</LinkButton>
          </div>
        </Empty>
      ) : (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

type ContentProps = {
  readonly view: TaskView;
  readonly back: { readonly href: string; readonly label: string };
  readonly onExpired: () => void;
};

function TaskContent({ view, back, onExpired }: ContentProps) {
  const { task, callback, previews, operator } = view;
  for (const { url, previewUrl } of previews) storePreview(url, previewUrl);
  const { word, tone } = taskWord(task);
  return (
    <Page
      title={tasksText.taskOf(shortId(task.taskId))}
      heading={
        <span class="row">
          {tasksText.task} <StateDot tone={tone}>{word}</StateDot>
        </span>
      }
      lead={
        <span class="id">
          <code>{task.taskId}</code>
          <CopyButton text={task.taskId} label={tasksText.copyId} />
        </span>
      }
      back={back}
    >
      <div class="columns wide-left">
        <div class="stack">
          <section class="stack tight" aria-label={tasksText.video}>
            <TaskResult view={view} onExpired={onExpired} />
            <TaskBar view={view} />
          </section>
          <RequestCard view={view} />
          {operator !== undefined && <TaskJobs jobs={operator.providerJobs} />}
          {callback !== null && <CallbackCard taskId={task.taskId} callback={callback} />}
        </div>
        <div class="stack">
          <TaskTimeline view={view} />
          <LedgerCard ledger={view.ledger} />
          <DetailsCard view={view} />
        </div>
      </div>
    </Page>
  );
}
