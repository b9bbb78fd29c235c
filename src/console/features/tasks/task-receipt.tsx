import type { TaskTimeline } from '../../api/contract.ts';
import { sentence } from '../../api/problem.ts';
import { Change, number } from '../../ui/money.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { failWord } from '../../words.ts';

/** Why a task failed and that every credit came back, in one box: both were written together. */
export function TaskReceipt({ timeline: { task, ledger } }: { readonly timeline: TaskTimeline }) {
  const words = failWord(task.failCode ?? 'internal');
  const charge = ledger.find(({ kind }) => kind === 'charge');
  const refund = ledger.find(({ kind }) => kind === 'refund');
  return (
    <section class="receipt" aria-label="What happened to this task">
      <div class="why">
        <h2>{words.title}</h2>
        {task.failMsg !== null && <p dir="auto">{sentence(task.failMsg)}</p>}
        <p class="soft">{words.advice}</p>
      </div>
      <dl>
        {charge !== undefined && (
          <div>
            <dt>Charged, entry #{charge.entryId}</dt>
            <dd>
              <Change amount={charge.amount} />
            </dd>
          </div>
        )}
        {refund !== undefined && (
          <div>
            <dt>Refunded in full, entry #{refund.entryId}</dt>
            <dd>
              <Change amount={refund.amount} />
            </dd>
          </div>
        )}
        <div>
          <dt>What it cost you</dt>
          <dd class="amount">{number(task.creditsCharged - task.creditsRefunded)} credits</dd>
        </div>
      </dl>
      {refund !== undefined && (
        <p>
          <small>
            Balance after the refund: {number(refund.balanceAfter)}, on <ExactTime ms={refund.createTime} />.
          </small>
        </p>
      )}
    </section>
  );
}
