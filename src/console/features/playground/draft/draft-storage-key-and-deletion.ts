/** Under which this browser keeps the drafts of the playground. Apart from their code, because every page can sign out. */
export const draftsLocalStorageKey = 'console-drafts';

export function deleteDrafts(): void {
  localStorage.removeItem(draftsLocalStorageKey);
}
