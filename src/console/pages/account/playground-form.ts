import type { Model, TaskRecord, TaskRequest } from '../../api/contract.ts';

/** What the form holds; the request is made from it. */
export type Draft = {
  readonly model: string;
  readonly prompt: string;
  readonly duration: number;
  readonly ratio: string;
  readonly generateAudio: boolean;
  readonly imageUrls: readonly string[];
  readonly callBackUrl: string;
};

export const emptyDraft: Draft = {
  model: '',
  prompt: '',
  duration: 5,
  ratio: '16:9',
  generateAudio: true,
  imageUrls: [],
  callBackUrl: '',
};

/** The request as the API takes it; optional parts are left out when they say nothing. */
export function requestOf(draft: Draft): TaskRequest {
  const { model, prompt, duration, ratio, generateAudio, imageUrls, callBackUrl } = draft;
  // The form offers what the model's own description lists, which the types do not know.
  return {
    model,
    input: {
      prompt,
      duration,
      ratio,
      generateAudio,
      ...(imageUrls.length > 0 && { imageUrls }),
    },
    ...(callBackUrl !== '' && { callBackUrl }),
  } as TaskRequest;
}

/** A request that was made before, to be made again with changes. */
export function draftOf({ param }: TaskRecord): Draft {
  const { input, model, callBackUrl = '' } = param;
  const { prompt, duration, ratio, generateAudio, imageUrls } = input;
  return { model, prompt, duration, ratio, generateAudio, imageUrls, callBackUrl };
}

/** The draft with what the chosen model cannot do taken back to what it can. */
export function fitted(draft: Draft, model: Model | undefined): Draft {
  if (model === undefined) return draft;
  const ratios: readonly string[] = model.ratios;
  return {
    ...draft,
    model: model.model,
    duration: Math.min(model.maxDuration, Math.max(model.minDuration, draft.duration)),
    ratio: ratios.includes(draft.ratio) ? draft.ratio : (ratios[0] ?? draft.ratio),
    imageUrls: draft.imageUrls.slice(0, model.maxImages),
  };
}

/** What a second costs now, and the price after it: one that was announced when the models were read may have begun since. */
export function priceAt({ creditsPerSecond, nextPrices }: Model, nowMs: number) {
  const begun = nextPrices.findLast(({ fromTime }) => fromTime <= nowMs);
  return {
    creditsPerSecond: begun?.creditsPerSecond ?? creditsPerSecond,
    next: nextPrices.find(({ fromTime }) => fromTime > nowMs),
  };
}

/** As the API counts: code points, not UTF-16 units. */
export function lengthOf(text: string): number {
  return [...text].length;
}

/** New parts of the draft, or a function of the current one: an upload ends long after the render in which it began. */
export type DraftChange = Partial<Draft> | ((draft: Draft) => Partial<Draft>);

const draftKey = (accountId: string) => `videogen-draft-${accountId}`;

/** What was typed survives a reload of the tab. */
export function storedDraft(accountId: string): Draft {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(draftKey(accountId)) ?? '{}');
    return typeof stored === 'object' && stored !== null ? { ...emptyDraft, ...stored } : emptyDraft;
  } catch {
    return emptyDraft;
  }
}

export function storeDraft(accountId: string, draft: Draft): void {
  sessionStorage.setItem(draftKey(accountId), JSON.stringify(draft));
}
