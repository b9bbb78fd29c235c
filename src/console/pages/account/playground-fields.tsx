import { Sparkles } from './icons.ts';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { type ApiProblem, failureOf, sentence } from '../../api/problem.ts';
import { Button } from '../../ui/button.tsx';
import { ChoiceField, TextField } from '../../ui/field.tsx';
import { credits, number } from '../../ui/money.tsx';
import { ErrorBox } from '../../ui/notice.tsx';
import { ExactTime, useNow } from '../../ui/time.tsx';
import { fieldWord } from '../../words.ts';
import { fileHandlers } from './playground-drop.ts';
import { FieldControl } from './playground-field.tsx';
import { type Draft, type DraftChange, priceAt } from './playground-form.ts';
import { type Field, fieldsOf, isGiven, valueOf, withValue } from './playground-schema.ts';

type Faults = Readonly<Record<string, string>>;
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

/** The form as the chosen model wants it: its fields and their bounds are the model's own. */
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
  const fields = fieldsOf(model);
  const shown = fields.filter((field) => !isMinor(field));
  const minor = fields.filter(isMinor);
  const controlOf = (field: Field) => (
    <FieldControl
      key={field.path}
      field={field}
      value={valueOf(draft.input, field)}
      fault={faultBelow(faults, field.path)}
      blocked={blockerOf(field, draft)}
      onValue={(change) => onChange(({ input }) => ({ input: withValue(input, field, change(valueOf(input, field))) }))}
    />
  );
  const isGivenBelow = minor.some((field) => {
    const value = valueOf(draft.input, field);
    return isGiven(value) && value !== field.standard;
  });
  const isRefused = minor.some(({ path }) => faultBelow(faults, path) !== undefined);
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
        hint={`${credits(price.creditsPerSecond)} per second of video`}
        fault={faults['model']}
        onValue={(value) => onChange({ model: value })}
      />
      {rowsOf(shown).map((row) =>
        row.length === 1 ? (
          row.map(controlOf)
        ) : (
          <div key={row[0]?.path} class="frames">
            {row.map(controlOf)}
          </div>
        ),
      )}
      {minor.length > 0 && (
        <Fold title="More options" isGiven={isGivenBelow} problem={isRefused && problem}>
          {minor.map(controlOf)}
        </Fold>
      )}
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
      <GenerateButton {...props} price={price} />
    </form>
  );
}

/** Fields that take one file each, such as the first and the last frame, stand beside each other. */
function rowsOf(fields: readonly Field[]): readonly (readonly Field[])[] {
  const isSingle = ({ control }: Field) => control.kind === 'media' && !control.isList;
  const rows: Field[][] = [];
  for (const field of fields) {
    const last = rows.at(-1);
    if (isSingle(field) && last?.every(isSingle) === true) last.push(field);
    else rows.push([field]);
  }
  return rows;
}

/** Fields without a default and the model's own figures are seldom set, so they are folded below the others. */
function isMinor({ isRequired, standard, parent, control: { kind } }: Field): boolean {
  if (isRequired || kind === 'media') return false;
  return standard === undefined || (parent !== undefined && kind !== 'choice' && kind !== 'switch');
}

/** Why a field cannot be used beside what is given; undefined for one that is given itself: it can still be emptied. */
function blockerOf(field: Field, { input }: Draft): string | undefined {
  const has = (name: string) => isGiven(input[name]);
  if (has(field.name)) return undefined;
  const others = field.excludes.filter(has).map(fieldWord);
  return others.length === 0 ? undefined : `Not together with: ${others.join(', ')}. Remove that first.`;
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

type FoldProps = {
  readonly title: string;
  readonly isGiven: boolean;
  /** The refusal of what is inside. */
  readonly problem: ApiProblem | null | false;
  readonly children: ComponentChildren;
};

function Fold({ title, isGiven: hasContent, problem, children }: FoldProps) {
  const details = useRef<HTMLDetailsElement>(null);
  // Only opened: who empties a field to type another value still needs it.
  useLayoutEffect(() => {
    if (details.current !== null && (hasContent || problem)) details.current.open = true;
  }, [hasContent, problem]);
  return (
    <details ref={details} class="quiet">
      <summary>{title}</summary>
      <div class="body stack">{children}</div>
    </details>
  );
}

type GenerateProps = Pick<FieldsProps, 'draft' | 'balance' | 'isBusy' | 'disabledReason'> & {
  readonly price: ReturnType<typeof priceAt>;
};

/** The price stands on the button, what is left below it: a rate of one's own and announced prices included. */
function GenerateButton({ price: { creditsPerSecond, next }, draft, balance, isBusy, disabledReason }: GenerateProps) {
  const price = creditsPerSecond * Number(draft.input['duration']);
  const left = balance === undefined ? undefined : balance - price;
  return (
    <div class="stack tight generate">
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

function isBelow(at: string, path: string): boolean {
  return at === path || at.startsWith(`${path}[`) || at.startsWith(`${path}.`);
}

/** The fault of a field or, in a list, of one of its items. */
function faultBelow(faults: Faults, path: string): string | undefined {
  return Object.entries(faults).find(([at]) => isBelow(at, path))?.[1];
}
