import { headersOf } from '../../api/call.ts';
import { ApiProblem } from '../../api/problem.ts';

/** A plain link could not say for which account it asks; so the file is fetched, and then saved. */
export async function downloadCsv(address: string, account: string, name: string): Promise<void> {
  const response = await fetch(address, { headers: headersOf(account), credentials: 'same-origin' });
  if (!response.ok) {
    const requestId = response.headers.get('x-request-id') ?? undefined;
    const message = 'the file could not be made; try again';
    throw new ApiProblem({ status: response.status, error: 'export_failed', message, data: {}, requestId });
  }
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
