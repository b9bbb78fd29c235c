import { useIsOperatorPage } from '../../../api/session.ts';
import { accountPages } from '../../../pages.ts';
import { CopyId } from '../../../ui/controls/copy-button.tsx';
import { shortId } from '../../../ui/controls/short-id.ts';
import { type BackLinkTarget, DetailPage } from '../../../ui/lists/detail-page.tsx';
import { Film } from '../../../ui/controls/icons.ts';
import { Page } from '../../../ui/page-card-facts-and-tiles.tsx';
import { WordWithDot } from '../../../ui/controls/badge-and-state-dot.tsx';
import { CallbackCard } from '../../callbacks/callback-card.tsx';
import { storeUploadPreviewLink } from '../reference-media-thumbnail.tsx';
import { RequestCard } from './request-card.tsx';
import { TaskCostAndActions } from './task-cost-and-actions.tsx';
import { TaskDetailsCard, TaskLedgerCard } from './task-ledger-and-details-cards.tsx';
import { TaskJobs } from './task-jobs.tsx';
import { TaskResult } from './task-result.tsx';
import { TaskTimeline } from './task-timeline.tsx';
import { tasksText, wordAndToneOfTask } from '../tasks-text.ts';
import { type TaskView, useTask } from './use-task.ts';
import { useTaskPagePaths } from './use-task-page-paths.ts';

/** One task, for its account and for operators. */
export function TaskPage({ id }: { readonly id: string }) {
  const isOperator = useIsOperatorPage();
  const task = useTask(id);
  const back = { href: useTaskPagePaths().list, label: accountPages.tasks.title };
  const text = isOperator ? tasksText.notFoundOfOperators : tasksText.notFound;
  return (
    <DetailPage
      of={task}
      title={tasksText.task}
      back={back}
      unknown={{ icon: Film, title: tasksText.notFoundTitle, text, seeAll: tasksText.seeAll }}
    >
      {(view) => <TaskContent view={view} back={back} onExpired={() => void task.refetch()} />}
    </DetailPage>
  );
}

type ContentProps = {
  readonly view: TaskView;
  readonly back: BackLinkTarget;
  readonly onExpired: () => void;
};

function TaskContent({ view, back, onExpired }: ContentProps) {
  const { task, callback, previews, operator } = view;
  for (const { url, previewUrl } of previews) storeUploadPreviewLink(url, previewUrl);
  return (
    <Page
      title={tasksText.taskOf(shortId(task.taskId))}
      heading={
        <span class="row">
          {tasksText.task} <WordWithDot of={wordAndToneOfTask(task)} />
        </span>
      }
      lead={<CopyId id={task.taskId} label={tasksText.copyId} />}
      back={back}
    >
      <div class="columns wide-left">
        <div class="stack">
          <section class="stack tight" aria-label={tasksText.video}>
            <TaskResult view={view} onExpired={onExpired} />
            <TaskCostAndActions view={view} />
          </section>
          <RequestCard view={view} />
          {operator !== undefined && <TaskJobs jobs={operator.providerJobs} />}
          {callback !== null && <CallbackCard taskId={task.taskId} callback={callback} />}
        </div>
        <div class="stack">
          <TaskTimeline view={view} />
          <TaskLedgerCard ledger={view.ledger} />
          <TaskDetailsCard view={view} />
        </div>
      </div>
    </Page>
  );
}
