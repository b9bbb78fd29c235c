import { Ban, Film } from '../../ui/icons.ts';
import { ExternalLink } from './icons.ts';
import { useState } from 'preact/hooks';
import type { TaskDetail } from '../../api/contract.ts';
import { failureOf, problemOf } from '../../api/problem.ts';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Empty } from '../../ui/empty.tsx';
import { credits } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Player } from '../../ui/player.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { toast } from '../../ui/toast.tsx';
import { failWord, taskWord } from '../../words.ts';
import { isLive } from '../account/use-task.ts';
import { RequestFacts } from '../input-facts.tsx';
import { auditHint, ChangeDialog } from './change-dialog.tsx';
import { TaskCallbackCard } from './task-callback.tsx';
import { TaskFacts, TaskLedger } from './task-facts.tsx';
import { TaskJobs } from './task-jobs.tsx';

const back = { href: opsPaths.tasks, label: 'Tasks' };

export function TaskPage({ taskId }: { readonly taskId: string }) {
  const { data, error, refetch } = useRead(
    '/api/admin/v1/tasks/show',
    { taskId },
    {
      everyMs: (shown) => {
        if (shown === undefined || isLive(shown.task)) return 1000;
        return shown.callback?.state === 'pending' ? 3000 : false;
      },
    },
  );
  if (data !== undefined) return <TaskContent detail={data} onExpired={() => void refetch()} />;
  if (error === null) {
    return (
      <Page title="Task" back={back}>
        <div class="columns wide-left">
          <Skeleton height="320px" />
          <Skeleton height="240px" />
        </div>
      </Page>
    );
  }
  return (
    <Page title="Task" back={back}>
      {[404, 422].includes(problemOf(error).status) ? (
        <Empty icon={Film} title="No such task">
          <p>No task of any account has this id. It may have been copied without its end.</p>
          <div class="row">
            <LinkButton href={opsPaths.tasks}>See all tasks</LinkButton>
          </div>
        </Empty>
      ) : (
        <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function TaskContent({ detail, onExpired }: ContentProps) {
  const { task } = detail;
  const { word, tone } = taskWord(task);
  const heading = (
    <span class="row">
      Task{' '}
      <StateDot tone={tone}>
        {word}
        {task.state === 'generating' && <span class="number faint">{task.progress}&nbsp;%</span>}
      </StateDot>
    </span>
  );
  const id = (
    <span class="id">
      <code>{task.taskId}</code>
      <CopyButton text={task.taskId} label="Copy the task’s id" />
    </span>
  );
  return (
    <Page
      title={`Task …${task.taskId.slice(-8)}`}
      heading={heading}
      lead={id}
      back={back}
      actions={<Actions detail={detail} />}
    >
      {task.failCode !== null && (
        <Notice tone="bad" title={failWord(task.failCode).title}>
          {task.failMsg !== null && (
            <p>
              <bdi>{task.failMsg}</bdi>
            </p>
          )}
          <p>
            <code>{task.failCode}</code>; {credits(task.creditsRefunded)} went back to the account.
          </p>
        </Notice>
      )}
      <div class="columns wide-left">
        <div class="stack">
          <FilmOf detail={detail} onExpired={onExpired} />
          <Card title="Request">
            <RequestFacts param={task.param} />
          </Card>
          <TaskJobs detail={detail} />
          <TaskCallbackCard detail={detail} />
        </div>
        <div class="stack">
          <TaskFacts detail={detail} />
          <TaskLedger detail={detail} />
        </div>
      </div>
    </Page>
  );
}

type ContentProps = { readonly detail: TaskDetail; readonly onExpired: () => void };

function FilmOf({ detail: { task, result, posterUrl }, onExpired }: ContentProps) {
  const [url] = task.resultJson.resultUrls;
  if (result === null || url === undefined) return null;
  return (
    <div class="film" style={{ aspectRatio: `${result.widthPx} / ${result.heightPx}` }}>
      <Player key={task.taskId} url={url} posterUrl={posterUrl} onExpired={onExpired} />
    </div>
  );
}

function Actions({ detail }: { readonly detail: TaskDetail }) {
  const [isAsked, setAsked] = useState(false);
  const { task } = detail;
  return (
    <>
      {detail.temporalUrl !== null && (
        <a class="button" href={detail.temporalUrl} target="_blank" rel="noopener">
          <ExternalLink size={16} aria-hidden="true" /> Temporal
        </a>
      )}
      {isLive(task) && (
        <Button look="danger" onClick={() => setAsked(true)}>
          <Ban size={16} aria-hidden="true" /> Cancel
        </Button>
      )}
      {isAsked && (
        <ChangeDialog
          path="/api/admin/v1/tasks/cancel"
          title="Cancel this task?"
          action="Cancel the task"
          isDanger
          says={`Its generation stops, and ${credits(task.creditsCharged)} go back to the account. Its callback is sent. The account is not told your reason.`}
          reasonHint={auditHint}
          body={(reason) => ({ taskId: task.taskId, reason })}
          onClose={() => setAsked(false)}
          onDone={({ cancelled, creditsRefunded }) =>
            toast(cancelled ? `Cancelled; ${credits(creditsRefunded)} refunded` : 'The task had ended already')
          }
        />
      )}
    </>
  );
}
