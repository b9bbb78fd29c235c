import { toSentence } from '../../../api/api-problem-and-words.ts';
import { SignedAmount, formatCredits, formatNumber } from '../../../ui/number-formats.tsx';
import { ExactTime } from '../../../ui/times-and-durations.tsx';
import { describeFailCode, tasksText, wordAndToneOfTask } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';

/** Why a task failed and that its credits were refunded, in one box: both were written together. */
export function TaskFailureReceipt({ view: { task, ledger } }: { readonly view: TaskView }) {
  const { title, advice } = describeFailCode(task.failCode ?? 'internal');
  const entryOf = (one: string) => ledger.find(({ kind }) => kind === one);
  const refund = entryOf('refund');
  const lines = [
    [entryOf('charge'), tasksText.charged],
    [refund, tasksText.refunded],
  ] as const;
  return (
    <section class={`receipt ${wordAndToneOfTask(task).tone}`} aria-label={tasksText.receipt}>
      <div class="why">
        <h2>{title}</h2>
        {task.failMsg !== null && <p dir="auto">{toSentence(task.failMsg)}</p>}
        <p class="soft">{advice}</p>
      </div>
      <dl>
        {lines.map(
          ([entry, label]) =>
            entry !== undefined && (
              <div key={entry.entryId}>
                <dt>{label(entry.entryId)}</dt>
                <dd>
                  <SignedAmount amount={entry.amount} />
                </dd>
              </div>
            ),
        )}
        <div>
          <dt>{tasksText.netCost}</dt>
          <dd class="amount">{formatCredits(task.creditsCharged - task.creditsRefunded)}</dd>
        </div>
      </dl>
      {refund !== undefined && (
        <p>
          <small>
            {tasksText.balanceAfter} {formatNumber(refund.balanceAfter)}, <ExactTime ms={refund.createTime} />
          </small>
        </p>
      )}
    </section>
  );
}
