import { useEffect, useRef } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { type ApiProblem, failureOf, sentence } from '../../api/problem.ts';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { Fold } from '../../ui/fold.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { useNow } from '../../ui/time.tsx';
import { fileHandlers } from './playground-drop.ts';
import { type Draft, type DraftChange, requestOf } from './playground-form.ts';
import { GenerateButton, priceWords } from './playground-generate.tsx';
import { isBelow, PlaygroundInputs } from './playground-inputs.tsx';
import { livePrice } from './playground-price.ts';
import { type Field, fieldsOf } from './playground-schema.ts';

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

/** The form of the chosen model: its fields and their bounds are the model's own. */
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
  const fields = fieldsOf(model);
  const price = livePrice(model, requestOf(draft, fields).input, now);
  return (
    <form
      ref={form}
      class="card padded stack"
      aria-label="Video"
      noValidate
      {...fileHandlers}
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
      {problem !== null && <ProblemBox problem={problem} fields={fields} />}
      <ChoiceField
        label="Model"
        value={model.model}
        options={models.map(({ model: value, title }) => ({ value, label: title }))}
        hint={priceWords(price.now, model)}
        fault={faults['model']}
        onValue={(value) => onChange({ model: value })}
      />
      <PlaygroundInputs fields={fields} draft={draft} problem={problem} onChange={onChange} />
      <Fold
        title="Callback"
        isGiven={draft.callBackUrl !== ''}
        problem={faults['callBackUrl'] !== undefined && problem}
      >
        <TextField
          label="callBackUrl"
          type="url"
          placeholder="https://example.com/videogen"
          value={draft.callBackUrl}
          hint="The service posts the record there when the task ends, signed, for up to three days."
          fault={faults['callBackUrl']}
          onValue={(value) => onChange({ callBackUrl: value.trim() })}
        />
      </Fold>
      <GenerateButton {...props} model={model} price={price} />
    </form>
  );
}

/** A refusal that no field of the form shows. */
function ProblemBox({ problem, fields }: { readonly problem: ApiProblem; readonly fields: readonly Field[] }) {
  const paths = ['model', 'callBackUrl', ...fields.map(({ path }) => path)];
  const faults = Object.entries(problem.faults);
  const hidden = faults.filter(([at]) => !paths.some((path) => isBelow(at, path)));
  if (faults.length > 0 && hidden.length === 0) return null;
  const failure = failureOf(problem);
  if (hidden.length === 0) return <ErrorBox failure={failure} />;
  return (
    <ErrorBox failure={{ ...failure, sentence: hidden.map(([at, fault]) => sentence(`${at}: ${fault}`)).join(' ') }} />
  );
}
