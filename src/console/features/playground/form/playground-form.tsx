import type { JSX } from 'preact';
import type { Model } from '../../../api/contract.ts';
import type { ApiProblem } from '../../../api/api-problem-and-words.ts';
import { SegmentedOrSelectField, TextField } from '../../../ui/forms/form-fields.tsx';
import { Fold } from '../../../ui/controls/fold.tsx';
import { Form } from '../../../ui/forms/form.tsx';
import type { Draft, DraftChange } from '../draft/draft.ts';
import { formDropAndPasteHandlers } from '../media/file-drop-and-paste.ts';
import { GenerateButton, namedPriceRateWords } from './generate-button.tsx';
import { hasFieldError, InputFields } from './input-fields.tsx';
import { inputFieldsOf } from './form-fields-from-input-schema.ts';
import type { OnPending } from '../media/use-reasons-to-wait-for-media.ts';
import { playgroundText } from '../playground-text.ts';
import { OtherModels, VariantFields } from './video-count-and-other-models-fields.tsx';
import type { PlannedVideo } from './variants.ts';
import '../playground.css';

type FormProps = {
  readonly models: readonly Model[];
  readonly model: Model | undefined;
  readonly draft: Draft;
  readonly variants: readonly PlannedVideo[];
  readonly balance: number | undefined;
  readonly submission: { readonly isPending: boolean; readonly error: ApiProblem | null };
  readonly disabledReason: string | undefined;
  readonly onPending: OnPending;
  readonly onChange: (change: DraftChange) => void;
  readonly onGenerate: () => void;
};

/** The form of the chosen model: its fields and their bounds are the model's own. */
export function PlaygroundForm(props: FormProps) {
  const { models, model, draft, variants, submission, onPending, onChange, onGenerate } = props;
  if (models.length === 0 && model === undefined) return <p>{playgroundText.noModel}</p>;
  const { error } = submission;
  return (
    <section class="card padded" aria-label={playgroundText.form} {...formDropAndPasteHandlers} onKeyDown={pressed}>
      <Form submission={submission} onSubmit={onGenerate}>
        <SegmentedOrSelectField
          label={playgroundText.model}
          name="model"
          value={draft.model}
          options={choicesOf(props)}
          hint={model === undefined ? playgroundText.chooseAnother : namedPriceRateWords(variants[0]?.price.now, model)}
          onValue={(value) => onChange({ model: value })}
        />
        {model !== undefined && (
          <>
            {draft.variants === 'models' && (
              <OtherModels models={models} model={model} draft={draft} onChange={onChange} />
            )}
            <InputFields
              fields={inputFieldsOf(model)}
              draft={draft}
              problem={error}
              onPending={onPending}
              onChange={onChange}
            />
            <Fold
              title={playgroundText.callback}
              isGiven={draft.callBackUrl !== ''}
              problem={hasFieldError(error, 'callBackUrl') && error}
            >
              <TextField
                label="callBackUrl"
                name="callBackUrl"
                inputMode="url"
                placeholder="https://example.com/callbacks"
                value={draft.callBackUrl}
                hint={playgroundText.callbackHint}
                onValue={(value) => onChange({ callBackUrl: value.trim() })}
              />
            </Fold>
            <div class="stack tight generate">
              <VariantFields models={models} model={model} draft={draft} variants={variants} onChange={onChange} />
              <GenerateButton {...props} isBusy={submission.isPending} />
            </div>
          </>
        )}
      </Form>
    </section>
  );
}

/** The models on offer, and the chosen one if it is not among them. */
function choicesOf({ models, model, draft }: Pick<FormProps, 'models' | 'model' | 'draft'>) {
  const options = models.map(({ model: value, title }) => ({ value, label: title }));
  if (options.some(({ value }) => value === draft.model)) return options;
  return [...options, { value: draft.model, label: playgroundText.notAvailable(model?.title ?? draft.model) }];
}

/**
 * Ctrl or ⌘ + Enter clicks the button, so a disabled button blocks it. Key repeat is ignored: each repeat after a response would create
 * and charge another task.
 */
function pressed(event: JSX.TargetedKeyboardEvent<HTMLElement>): void {
  if (event.key !== 'Enter') return;
  const isShortcut = event.metaKey || event.ctrlKey;
  // Enter adds lines to a text.
  if (!isShortcut && (!event.repeat || event.target instanceof HTMLTextAreaElement)) return;
  event.preventDefault();
  if (!event.repeat) event.currentTarget.querySelector<HTMLElement>('[type="submit"]')?.click();
}
