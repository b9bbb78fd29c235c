import { consoleCallHeaders } from './call.ts';
import { ApiProblem } from './api-problem-and-words.ts';
import { withSudo } from './sudo.ts';

/** A plain link cannot send the account in a header, so the file is fetched and then saved. */
export async function download(address: string, account: string | undefined, name: string): Promise<void> {
  const file = await withSudo(async () => {
    const response = await fetch(address, { headers: consoleCallHeaders(account), credentials: 'same-origin' }).catch(
      failed,
    );
    // The connection may break while the file is on its way.
    if (response.ok) return response.blob().catch(failed);
    const body: unknown = await response.json().catch(() => undefined);
    const error = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : 'export_failed';
    const requestId = response.headers.get('x-request-id') ?? undefined;
    throw notSaved(response.status, error, requestId);
  });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Safari reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), revokedAfterMs);
}

const revokedAfterMs = 60_000;

function failed(): never {
  throw notSaved(0, 'export_failed', undefined);
}

function notSaved(status: number, error: string, requestId: string | undefined): ApiProblem {
  return new ApiProblem({ status, error, message: 'the file could not be saved; try again', data: {}, requestId });
}
