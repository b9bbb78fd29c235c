import { Sparkles } from './icons.ts';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { type ApiProblem, failureOf } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { CheckField, Segmented, TextArea, TextField } from '../../ui/field.tsx';
import { credits, number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { ExactTime, useNow } from '../../ui/time.tsx';
import { ratioWords } from '../../words.ts';
import { type Draft, type DraftChange, lengthOf, priceAt } from './playground-form.ts';
import { ReferenceImages } from './playground-images.tsx';

type FieldsProps = {
  readonly models: readonly Model[];
  readonly model: Model | undefined;
  readonly draft: Draft;
  readonly balance: number | undefined;
  readonly problem: ApiProblem | null;
  readonly isBusy: boolean;
  readonly disabledReason: string | undefined;
  readonly onChange: (change: DraftChange) => void;
  readonly onGenerate: () => void;
};

/** The form as the chosen model wants it: its lengths, shapes and number of images are the model's own. */
export function PlaygroundFields(props: FieldsProps) {
  const { models, model, draft, problem, onChange, onGenerate } = props;
  const form = useRef<HTMLFormElement>(null);
  const faults = problem?.faults ?? {};
  const hasFaults = Object.keys(faults).length > 0;
  useEffect(() => {
    if (hasFaults) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const now = useNow(1000);
  if (model === undefined) return <p>No model is offered by this service.</p>;
  const price = priceAt(model, now);
  const letters = lengthOf(draft.prompt);
  return (
    <form
      ref={form}
      class="card padded stack"
      aria-label="Video"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onGenerate();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
          event.preventDefault();
          onGenerate();
        }
      }}
    >
      {problem !== null && !hasFaults && <ErrorBox failure={failureOf(problem)} />}
      <Segmented
        label="Model"
        value={model.model}
        options={models.map(({ model: value, title }) => ({ value, label: title }))}
        hint={`${credits(price.creditsPerSecond)} per second of video`}
        fault={faults['model']}
        onValue={(value) => onChange({ model: value })}
      />
      <TextArea
        label="Prompt"
        placeholder="A lighthouse in a storm, seen from the sea, slow dolly in"
        value={draft.prompt}
        count={letters > model.maxPromptLength * 0.8 ? `${number(model.maxPromptLength - letters)} left` : ''}
        fault={faults['input.prompt']}
        onValue={(prompt) => onChange({ prompt })}
      />
      <Length model={model} draft={draft} fault={faults['input.duration']} onChange={onChange} />
      <Segmented
        label="Shape"
        value={draft.ratio}
        options={model.ratios.map((value: string) => ({ value, label: ratioWords[value] ?? value }))}
        fault={faults['input.ratio']}
        onValue={(ratio) => onChange({ ratio })}
      />
      <CheckField
        label="With sound"
        hint="Does not change the price"
        isChecked={draft.generateAudio}
        onValue={(generateAudio) => onChange({ generateAudio })}
      />
      {model.maxImages > 0 && (
        <ReferenceImages
          urls={draft.imageUrls}
          max={model.maxImages}
          fault={faultBelow(faults, 'input.imageUrls')}
          onUrls={(change) => onChange(({ imageUrls }) => ({ imageUrls: change(imageUrls) }))}
        />
      )}
      <Callback draft={draft} fault={faults['callBackUrl']} onChange={onChange} />
      <GenerateButton {...props} price={price} />
    </form>
  );
}

type FieldProps = Pick<FieldsProps, 'draft' | 'onChange'> & { readonly fault: string | undefined };

function Length({ model, draft, fault, onChange }: FieldProps & { readonly model: Model }) {
  return (
    <TextField
      label="Length"
      type="range"
      min={model.minDuration}
      max={model.maxDuration}
      step={1}
      value={String(draft.duration)}
      count={`${draft.duration}\u00A0s`}
      aria-valuetext={`${draft.duration} seconds`}
      fault={fault}
      onValue={(value) => onChange({ duration: Number(value) })}
    />
  );
}

function Callback({ draft: { callBackUrl }, fault, onChange }: FieldProps) {
  const details = useRef<HTMLDetailsElement>(null);
  const isGiven = callBackUrl !== '';
  // Only opened: who empties the field to type another URL still needs it.
  useLayoutEffect(() => {
    if (details.current !== null && (isGiven || fault !== undefined)) details.current.open = true;
  }, [isGiven, fault]);
  return (
    <details ref={details} class="quiet">
      <summary>Callback</summary>
      <div class="body">
        <TextField
          label="callBackUrl"
          type="url"
          placeholder="https://example.com/videogen"
          value={callBackUrl}
          hint="The service posts the record there when the task ends, signed, for up to three days."
          fault={fault}
          onValue={(value) => onChange({ callBackUrl: value.trim() })}
        />
      </div>
    </details>
  );
}

type GenerateProps = Pick<FieldsProps, 'draft' | 'balance' | 'isBusy' | 'disabledReason'> & {
  readonly price: ReturnType<typeof priceAt>;
};

/** The price stands on the button, what is left below it: a rate of one's own and announced prices included. */
function GenerateButton({ price: { creditsPerSecond, next }, draft, balance, isBusy, disabledReason }: GenerateProps) {
  const price = creditsPerSecond * draft.duration;
  const left = balance === undefined ? undefined : balance - price;
  return (
    <div class="stack tight">
      <Button
        look="primary"
        size="wide"
        type="submit"
        busy={isBusy}
        disabledReason={
          disabledReason ?? (left !== undefined && left < 0 ? 'The balance does not cover this video' : undefined)
        }
      >
        <Sparkles size={16} aria-hidden="true" /> Generate · {credits(price)}
      </Button>
      <p class="reason">
        {disabledReason ??
          (left === undefined
            ? '\u00A0'
            : left < 0
              ? `The balance of ${credits(balance ?? 0)} does not cover it. Ask an operator for a grant.`
              : `${number(left)} left after it`)}
      </p>
      {next !== undefined && (
        <p class="reason">
          From <ExactTime ms={next.fromTime} />: {credits(next.creditsPerSecond)} per second.
        </p>
      )}
    </div>
  );
}

/** Of a list, the fault of the list or of one of its items. */
function faultBelow(faults: Readonly<Record<string, string>>, path: string): string | undefined {
  return Object.entries(faults).find(
    ([at]) => at === path || at.startsWith(`${path}[`) || at.startsWith(`${path}.`),
  )?.[1];
}
