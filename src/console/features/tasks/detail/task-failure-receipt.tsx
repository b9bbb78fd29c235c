import { sentence } from '../../../api/problem.ts';
import { SignedAmount, credits, number } from '../../../ui/number-formats.tsx';
import { ExactTime } from '../../../ui/time.tsx';
import { failCodeWords, tasksText, taskWord } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';

/** Why a task failed and that its credits were refunded, in one box: both were written together. */
export function TaskFailureReceipt({ view: { task, ledger } }: { readonly view: TaskView }) {
  const { title, advice } = failCodeWords(task.failCode ?? 'internal');
  const entryOf = (one: string) => ledger.find(({ kind }) => kind === one);
  const refund = entryOf('refund');
  const lines = [
    [entryOf('charge'), tasksText.charged],
    [refund, tasksText.refunded],
  ] as const;
  return (
    <section class={`receipt ${taskWord(task).tone}`} aria-label={tasksText.receipt}>
      <div class="why">
        <h2>{title}</h2>
        {task.failMsg !== null && <p dir="auto">{sentence(task.failMsg)}</p>}
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
          <dd class="amount">{credits(task.creditsCharged - task.creditsRefunded)}</dd>
        </div>
      </dl>
      {refund !== undefined && (
        <p>
          <small>
            {tasksText.balanceAfter} {number(refund.balanceAfter)}, <ExactTime ms={refund.createTime} />
          </small>
        </p>
      )}
    </section>
  );
}
