import { apiProblemFromError } from './api-problem-and-words.ts';

/** Shows the dialog that confirms the person's identity. Rejects when the person closes it. */
type Confirm = () => Promise<void>;

let confirm: Confirm = () => Promise.reject(new Error('the dialog is not mounted'));

/** Called by the shell, which owns the dialog. */
export function setIdentityDialog(shown: Confirm): void {
  confirm = shown;
}

/** Runs a call; when the service requires a recent re-authentication, confirms the person's identity and runs it once more. */
export async function withSudo<Result>(attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (apiProblemFromError(error).error !== 'reauthentication_required') throw error;
    await confirm();
    return attempt();
  }
}
