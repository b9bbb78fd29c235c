import { headersOf } from '../../api/call.ts';
import { confirmPerson } from '../../api/confirm-person.ts';
import { ApiProblem } from '../../api/problem.ts';

/** A plain link could not say for which account it asks; so the file is fetched, and then saved. */
export async function download(address: string, account: string, name: string): Promise<void> {
  const ask = () => fetch(address, { headers: headersOf(account), credentials: 'same-origin' });
  let response = await ask();
  if (!response.ok && (await errorOf(response)) === 'reauthentication_required') {
    await confirmPerson();
    response = await ask();
  }
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

async function errorOf(response: Response): Promise<unknown> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}
