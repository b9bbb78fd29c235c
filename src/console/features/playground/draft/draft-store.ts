import { isObject } from '../../models/field-schema-helpers.ts';
import { draftsLocalStorageKey } from './draft-storage-key-and-deletion.ts';
import { type Draft, emptyDraft, variantCountOrModelsChoices } from './draft.ts';

// The drafts of this browser, so that a form survives a reload and a closed tab. Signing out deletes them.

/** Accounts whose drafts are stored; the one that was changed longest ago goes first. */
const maxDrafts = 8;
/** More than the longest prompt and all references of a request. */
const maxDraftLetters = 40_000;

/** Another person at this browser has drafts of their own, also in the same account. */
export type DraftOwner = { readonly userId: string; readonly accountId: string };

type StoredDraft = { readonly owner: string; readonly draft: unknown };

export function readStoredOrEmptyDraft(owner: DraftOwner): Draft {
  const draft = storedDrafts().find((one) => one.owner === nameOf(owner))?.draft;
  if (!isObject(draft) || !isObject(draft['input'])) return emptyDraft;
  const { model, input, callBackUrl, variants, otherModels } = draft;
  return {
    model: typeof model === 'string' ? model : '',
    input,
    callBackUrl: typeof callBackUrl === 'string' ? callBackUrl : '',
    variants: variantCountOrModelsChoices.find((one) => one === variants) ?? '1',
    otherModels: Array.isArray(otherModels) ? otherModels.filter((one) => typeof one === 'string') : [],
  };
}

export function storeDraft(owner: DraftOwner, draft: Draft): void {
  const others = storedDrafts().filter((one) => one.owner !== nameOf(owner));
  const isStorable = JSON.stringify(draft).length <= maxDraftLetters;
  const drafts = [...(isStorable ? [{ owner: nameOf(owner), draft }] : []), ...others].slice(0, maxDrafts);
  try {
    localStorage.setItem(draftsLocalStorageKey, JSON.stringify(drafts));
  } catch {
    // A browser that blocks storage keeps no draft.
  }
}

function nameOf({ userId, accountId }: DraftOwner): string {
  return `${userId} ${accountId}`;
}

function storedDrafts(): readonly StoredDraft[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(draftsLocalStorageKey) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isStoredDraft) : [];
  } catch {
    return [];
  }
}

function isStoredDraft(value: unknown): value is StoredDraft {
  return isObject(value) && typeof value['owner'] === 'string';
}
