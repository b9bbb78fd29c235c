import { headersOf } from './call.ts';
import { ApiProblem } from './problem.ts';
import { withSudo } from './sudo.ts';

/** A plain link cannot send the account in a header, so the file is fetched and then saved. */
export async function download(address: string, account: string | undefined, name: string): Promise<void> {
  const file = await withSudo(async () => {
    const response = await fetch(address, { headers: headersOf(account), credentials: 'same-origin' });
    if (response.ok) return response.blob();
    const body: unknown = await response.json().catch(() => undefined);
    const error = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : 'export_failed';
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const message = 'the file could not be created; try again';
    throw new ApiProblem({ status: response.status, error, message, data: {}, requestId });
  });
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
