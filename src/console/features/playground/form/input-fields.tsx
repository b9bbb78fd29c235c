import type { ApiProblem } from '../../../api/api-problem-and-words.ts';
import { Fold } from '../../../ui/controls/fold.tsx';
import { isPathWithin } from '../../../ui/forms/form.tsx';
import { fieldWord } from '../../models/models-text.ts';
import type { Draft, DraftChange } from '../draft/draft.ts';
import { FieldControl } from './input-field.tsx';
import { type ModelInputField, isGiven, rawFieldValue, withFieldValue } from './form-fields-from-input-schema.ts';
import type { OnPending } from '../media/use-reasons-to-wait-for-media.ts';
import { playgroundText } from '../playground-text.ts';

type InputsProps = {
  readonly fields: readonly ModelInputField[];
  readonly draft: Draft;
  readonly problem: ApiProblem | null;
  readonly onPending: OnPending;
  readonly onChange: (change: DraftChange) => void;
};

/** The controls for the fields of `input`. */
export function InputFields({ fields, draft, problem, onPending, onChange }: InputsProps) {
  const controlOf = (field: ModelInputField) => (
    <FieldControl
      key={field.path}
      field={field}
      value={rawFieldValue(draft.input, field)}
      blocked={blockerOf(field, draft)}
      onPending={onPending}
      onValue={(change) =>
        onChange(({ input }) => ({ input: withFieldValue(input, field, change(rawFieldValue(input, field))) }))
      }
    />
  );
  const minor = fields.filter(isMinor);
  const given = minor.map((field) => ({ field, value: rawFieldValue(draft.input, field) }));
  return (
    <>
      {rowsOf(fields.filter((field) => !isMinor(field))).map((row) =>
        row.length === 1 ? (
          row.map(controlOf)
        ) : (
          <div key={row[0]?.path} class="frames">
            {row.map(controlOf)}
          </div>
        ),
      )}
      {minor.length > 0 && (
        <Fold
          title={playgroundText.moreOptions}
          isGiven={given.some(({ field: { standard }, value }) => isGiven(value) && value !== standard)}
          problem={minor.some((field) => hasFieldError(problem, field.path)) && problem}
        >
          {minor.map(controlOf)}
        </Fold>
      )}
    </>
  );
}

/** Fields that take one file each, such as the first and the last frame, stand beside each other. */
function rowsOf(fields: readonly ModelInputField[]): readonly (readonly ModelInputField[])[] {
  const isSingle = ({ control }: ModelInputField) => control.kind === 'media' && !control.isList;
  const rows: ModelInputField[][] = [];
  for (const field of fields) {
    const last = rows.at(-1);
    if (isSingle(field) && last?.every(isSingle) === true) last.push(field);
    else rows.push([field]);
  }
  return rows;
}

/** Fields without a default and the model's own figures are seldom set, so they are folded below the others. */
function isMinor({ isRequired, standard, parent, control: { kind } }: ModelInputField): boolean {
  if (isRequired || kind === 'media') return false;
  return standard === undefined || (parent !== undefined && kind !== 'choice' && kind !== 'switch');
}

/** Why a field cannot be used beside what is given; undefined for one that is given itself: it can still be emptied. */
function blockerOf(field: ModelInputField, { input }: Draft): string | undefined {
  const has = (name: string) => isGiven(input[name]);
  if (has(field.name)) return undefined;
  const others = field.excludes.filter(has).map(fieldWord);
  return others.length === 0 ? undefined : playgroundText.blocked(others.join(', '));
}

export function hasFieldError(problem: ApiProblem | null, path: string): boolean {
  return Object.keys(problem?.errors ?? {}).some((at) => isPathWithin(at, path));
}
