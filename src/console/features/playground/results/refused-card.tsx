import { failureOf, toSentence } from '../../../api/api-problem-and-words.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { RotateCw } from '../../../ui/controls/icons.ts';
import { formatCredits } from '../../../ui/number-formats.tsx';
import { Notice } from '../../../ui/feedback/notice-and-error-box.tsx';
import { playgroundText } from '../playground-text.ts';
import {
  type AcceptedVariant,
  isCertainlyNotCharged,
  type NotAcceptedVariant,
  useRetryVariant,
} from '../use-create-and-retry-variant-tasks.ts';

type RefusedProps = { readonly refused: NotAcceptedVariant; readonly onAccepted: (accepted: AcceptedVariant) => void };

/** A variant that was not started: why, whether it was charged, and a retry that is never charged twice. */
export function RefusedCard({ refused, onAccepted }: RefusedProps) {
  const retry = useRetryVariant(refused);
  const { label, price } = refused.variant;
  const problem = retry.error ?? refused.problem;
  const fields = Object.entries(problem.errors);
  const failure = failureOf(problem, fields);
  return (
    <article class="variant" aria-label={label}>
      <header>
        <h2>{label}</h2>
      </header>
      <Notice tone="bad" title={failure.title}>
        <p>
          {fields.length > 0 ? toSentence(failure.sentence) : failure.sentence}{' '}
          {isCertainlyNotCharged(problem) && <strong>{playgroundText.notCharged}</strong>}
        </p>
        <div class="row">
          <Button
            size="small"
            busy={retry.isPending}
            onClick={() => retry.mutate(undefined, { onSuccess: onAccepted })}
          >
            <RotateCw size={14} aria-hidden="true" /> {playgroundText.retry} · {formatCredits(price.total)}
          </Button>
        </div>
      </Notice>
    </article>
  );
}
