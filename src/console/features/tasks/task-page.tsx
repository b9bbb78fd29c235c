import { Ban, Film } from '../../ui/icons.ts';
import { Trash2 } from '../../ui/icons.ts';
import { Download, RefreshCw } from './icons.ts';
import { useState } from 'preact/hooks';
import type { TaskRecord, TaskTimeline } from '../../api/contract.ts';
import { deletedPrompt } from '../../../tasks/deleted-content.ts';
import { failureOf, problemOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { useAccount, useRoleReason } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { StateDot } from '../../ui/badge.tsx';
import { Button, LinkButton } from '../../ui/button.tsx';
import { CopyButton, shortId } from '../../ui/copy.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { bytes, Change, credits, number, priceNameOf } from '../../ui/money.tsx';
import { ErrorBox, Notice } from '../../ui/notice.tsx';
import { Card, Facts, Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { duration, ExactTime } from '../../ui/time.tsx';
import { toast } from '../../ui/toast.tsx';
import { ledgerWord, taskWord } from '../../words.ts';
import { RequestFacts } from '../input-facts.tsx';
import { storePreview } from '../media-thumbnail.tsx';
import { DeleteDialog } from './task-delete.tsx';
import { TaskCallback } from './task-callback.tsx';
import { TaskFilm } from './task-film.tsx';
import { TaskReceipt } from './task-receipt.tsx';
import { TaskSteps } from './task-steps.tsx';
import { isLive, useTask } from './use-task.ts';

export function TaskPage({ taskId }: { readonly taskId: string }) {
  const { accountId } = useAccount();
  const { data: timeline, error, refetch } = useTask(taskId);
  const back = { href: paths.tasks(accountId), label: 'Tasks' };
  if (timeline === undefined && error !== null) {
    const isUnknown = problemOf(error).status === 404 || problemOf(error).status === 422;
    return (
      <Page title="Task" back={back}>
        {isUnknown ? (
          <Empty icon={Film} title="No such task">
            <p>It does not exist, or it belongs to another account. Another account can be chosen in the sidebar.</p>
            <div class="row">
              <LinkButton href={back.href}>See all tasks</LinkButton>
            </div>
          </Empty>
        ) : (
          <ErrorBox failure={failureOf(error)} onRetry={() => void refetch()} />
        )}
      </Page>
    );
  }
  if (timeline === undefined) return <TaskSkeleton back={back} />;
  return <TaskContent timeline={timeline} back={back} onExpired={() => void refetch()} />;
}

type Back = { readonly href: string; readonly label: string };

function TaskSkeleton({ back }: { readonly back: Back }) {
  return (
    <Page title="Task" back={back}>
      <div class="columns wide-left" aria-busy="true">
        <div class="film late" style={{ aspectRatio: '16 / 9' }} />
        <div class="stack">
          <Skeleton height="180px" />
          <Skeleton height="120px" />
        </div>
      </div>
    </Page>
  );
}

type ContentProps = { readonly timeline: TaskTimeline; readonly back: Back; readonly onExpired: () => void };

function TaskContent({ timeline, back, onExpired }: ContentProps) {
  const { task, callback, previews } = timeline;
  for (const { url, previewUrl } of previews) storePreview(url, previewUrl);
  const { word, tone } = taskWord(task);
  const heading = (
    <span class="row">
      Task <StateDot tone={tone}>{word}</StateDot>
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
      title={`Task ${shortId(task.taskId)}`}
      heading={heading}
      lead={id}
      back={back}
      actions={<Actions timeline={timeline} />}
    >
      <div class="columns wide-left">
        <div class="stack">
          {task.state === 'fail' ? (
            <TaskReceipt timeline={timeline} />
          ) : (
            <TaskFilm timeline={timeline} onExpired={onExpired} />
          )}
          <Card title="Request">
            {isDeleted(task) ? (
              <Notice title="The content was deleted">
                <p>The record of the task and its ledger entries are kept.</p>
              </Notice>
            ) : (
              <RequestFacts param={task.param} />
            )}
          </Card>
          {callback !== null && <TaskCallback callback={callback} />}
        </div>
        <div class="stack">
          <TaskSteps timeline={timeline} />
          <LedgerCard timeline={timeline} />
          <FactsCard timeline={timeline} />
        </div>
      </div>
    </Page>
  );
}

function isDeleted({ param }: TaskRecord): boolean {
  return param.input.prompt === deletedPrompt;
}

function LedgerCard({ timeline: { ledger } }: { readonly timeline: TaskTimeline }) {
  if (ledger.length === 0) return null;
  return (
    <Card title="Ledger" isFlush>
      <Table
        caption="Entries of the ledger about this task"
        rows={ledger}
        rowKey={({ entryId }) => entryId}
        columns={[
          { title: 'Entry', kind: 'head', cell: ({ kind, entryId }) => `${ledgerWord(kind)} #${entryId}` },
          { title: 'Credits', kind: 'end', cell: ({ amount }) => <Change amount={amount} /> },
          { title: 'Balance', kind: 'end', cell: ({ balanceAfter }) => number(balanceAfter) },
        ]}
      />
    </Card>
  );
}

function FactsCard({
  timeline: { task, ledger, video, createdBy, mediaDeleteTime },
}: {
  readonly timeline: TaskTimeline;
}) {
  const { model, costTime, createTime, completeTime } = task;
  return (
    <Card title="Facts">
      <Facts
        facts={[
          ['Model', <code>{model}</code>],
          ['Cost', credits(task.creditsCharged - task.creditsRefunded)],
          ['Price', priceNameOf(ledger[0]?.priceName)],
          ['Measured', video === null ? undefined : measured(video)],
          ['File', video === null ? undefined : `MP4, ${bytes(video.bytes)}`],
          ['Generated in', costTime === null ? undefined : duration(costTime)],
          ['Created', <ExactTime ms={createTime} />],
          ['Ended', completeTime === null ? undefined : <ExactTime ms={completeTime} />],
          [
            'Created by',
            createdBy === null ? undefined : `${createdBy.name} (${createdBy.kind === 'key' ? 'API key' : 'person'})`,
          ],
          ['Kept until', mediaDeleteTime === null ? undefined : <ExactTime ms={mediaDeleteTime} />],
        ]}
      />
    </Card>
  );
}

function measured(video: NonNullable<TaskTimeline['video']>): string {
  const { widthPx, heightPx, durationSeconds, framesPerSecond, hasAudio } = video;
  const length = `${Number(durationSeconds.toFixed(2))}\u00A0s`;
  return `${widthPx}\u00A0×\u00A0${heightPx}, ${length}, ${Number(framesPerSecond.toFixed(2))}\u00A0fps, ${hasAudio ? 'sound' : 'silent'}`;
}

function Actions({ timeline: { task } }: { readonly timeline: TaskTimeline }) {
  const { accountId } = useAccount();
  const { resultUrls, lastFrameUrl } = task.resultJson;
  const [url] = resultUrls;
  return (
    <>
      {isLive(task) && <CancelButton taskId={task.taskId} creditsCharged={task.creditsCharged} />}
      {url !== undefined && (
        <a class="button" href={`${url}&download=1`} download={`${task.taskId}.mp4`}>
          <Download size={16} aria-hidden="true" /> Download
        </a>
      )}
      {lastFrameUrl !== undefined && (
        <a class="button" href={`${lastFrameUrl}&download=1`} download={`${task.taskId}.jpg`}>
          <Download size={16} aria-hidden="true" /> Last frame
        </a>
      )}
      {!isDeleted(task) && (
        <LinkButton href={paths.playground(accountId, task.taskId)}>
          <RefreshCw size={16} aria-hidden="true" /> Run again
        </LinkButton>
      )}
      {!isLive(task) && !isDeleted(task) && <DeleteButton taskId={task.taskId} />}
    </>
  );
}

/** Only for owners, since nobody can undo it. */
function DeleteButton({ taskId }: { readonly taskId: string }) {
  const [isAsked, setAsked] = useState(false);
  const reason = useRoleReason('owner');
  return (
    <>
      <Button look="danger" disabledReason={reason} onClick={() => setAsked(true)}>
        <Trash2 size={16} aria-hidden="true" /> Delete content
      </Button>
      {isAsked && <DeleteDialog taskId={taskId} onClose={() => setAsked(false)} />}
    </>
  );
}

function CancelButton({ taskId, creditsCharged }: { readonly taskId: string; readonly creditsCharged: number }) {
  const [isAsked, setAsked] = useState(false);
  const reason = useRoleReason('member');
  const cancel = useSend('/api/v1/jobs/cancelTask', {
    onDone: ({ cancelled }) => {
      setAsked(false);
      toast(cancelled ? 'Cancelled and refunded in full' : 'The task had ended already');
    },
  });
  return (
    <>
      <Button look="danger" disabledReason={reason} onClick={() => setAsked(true)}>
        <Ban size={16} aria-hidden="true" /> Cancel
      </Button>
      {isAsked && (
        <ConfirmDialog
          title="Cancel this task?"
          action="Cancel the task"
          dismiss="Keep it"
          isBusy={cancel.isPending}
          onClose={() => setAsked(false)}
          onConfirm={() => cancel.mutate({ taskId })}
        >
          {cancel.error !== null && <ErrorBox failure={failureOf(cancel.error)} />}
          <p>Its generation stops, and {credits(creditsCharged)} go back to your balance. It cannot be resumed.</p>
        </ConfirmDialog>
      )}
    </>
  );
}
