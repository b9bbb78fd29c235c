import { CommandError, notFoundError } from './command-output-and-errors.ts';

type Named = { readonly accountId: string; readonly name: string };

/** Returns the id of the only account with this name. */
export function idOfAccountCalled(name: string, accounts: readonly Named[]): string {
  const [only, ...others] = accounts.filter((one) => one.name === name).map(({ accountId }) => accountId);
  if (only === undefined) throw accountNotFoundError(name);
  if (others.length > 0) throw new CommandError(`several accounts are called ${name}: ${[only, ...others].join(', ')}`);
  return only;
}

export function accountNotFoundError(account: string): CommandError {
  return notFoundError('account', account);
}
