import { failureOf, sentence } from '../../../api/problem.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { RotateCw } from '../../../ui/controls/icons.ts';
import { credits } from '../../../ui/number-formats.tsx';
import { Notice } from '../../../ui/feedback/notice.tsx';
import { playgroundText } from '../playground-text.ts';
import {
  type AcceptedVariant,
  isCertainlyNotCharged,
  type UnconfirmedVariant,
  useRetryVariant,
} from '../use-generation.ts';

type RefusedProps = { readonly refused: UnconfirmedVariant; readonly onAccepted: (accepted: AcceptedVariant) => void };

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
          {fields.length > 0 ? sentence(failure.sentence) : failure.sentence}{' '}
          {isCertainlyNotCharged(problem) && <strong>{playgroundText.notCharged}</strong>}
        </p>
        <div class="row">
          <Button
            size="small"
            busy={retry.isPending}
            onClick={() => retry.mutate(undefined, { onSuccess: onAccepted })}
          >
            <RotateCw size={14} aria-hidden="true" /> {playgroundText.retry} · {credits(price.total)}
          </Button>
        </div>
      </Notice>
    </article>
  );
}
