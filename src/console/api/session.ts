import { type QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/preact-query';
import { useContext } from 'preact/hooks';
import { read, send } from './call.ts';
import type { Me } from './contract.ts';
import { type ApiProblem, apiProblemFromError } from './api-problem-and-words.ts';
import { isTransientFailure, transientFailureRetryMs, useResultKeepingError } from './read-and-send-hooks.ts';
import { AccountContext } from './account-context.ts';

type Role = Me['accounts'][number]['role'];

const key = ['me'];

const meQuery = queryOptions<Me | null, ApiProblem>({
  queryKey: key,
  queryFn: ({ signal }) =>
    read('/api/console/v1/me', {}, { account: undefined, signal }).catch((error: unknown) => {
      if (apiProblemFromError(error).status === 401) return null;
      throw error;
    }),
  staleTime: 60_000,
});

/** Requests the session early, because the first page depends on it. */
export function prefetchMe(client: QueryClient): void {
  void client.prefetchQuery(meQuery);
}

/** Null ends the session. */
export function replaceMe(client: QueryClient, me: Me | null): void {
  // A read that is in flight would overwrite this with an older response.
  void client.cancelQueries({ queryKey: key });
  client.setQueryData(key, me);
}

/** The signed-in person; null without a session. */
export function useMe() {
  const result = useQuery({
    ...meQuery,
    // An open tab shows a new role or a suspension soon.
    refetchInterval: ({ state }) => (isTransientFailure(state.error) ? transientFailureRetryMs : 60_000),
  });
  return useResultKeepingError(result);
}

/** Replaces the session, and drops everything that was read for the previous person. */
export function useReplaceSession() {
  const client = useQueryClient();
  return (me: Me | null) => {
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' });
    replaceMe(client, me);
  };
}

export async function signOut(): Promise<void> {
  await send('/api/console/v1/sign-out', {}, { account: undefined }).catch((error: unknown) => {
    // The session had ended already.
    if (apiProblemFromError(error).error !== 'not_signed_in') throw error;
  });
}

/** The account of the page, and the person's role in it. */
export function useAccount() {
  const accountId = useContext(AccountContext) ?? '';
  const { data: me } = useMe();
  const account = me?.accounts.find((one) => one.accountId === accountId);
  if (account !== undefined) return { accountId, name: account.name, role: account.role, isView: false };
  const view = me?.view?.accountId === accountId ? me.view : undefined;
  return { accountId, name: view?.name ?? '', role: view && ('owner' as const), isView: view !== undefined };
}

/** Also an operator who views the account reads what owners read. */
export function useIsOwner(): boolean {
  return useAccount().role === 'owner';
}

/** Pages of operators belong to no account. */
export function useIsOperatorPage(): boolean {
  return useContext(AccountContext) === undefined;
}

/** Why an operator who views the account may not change it; undefined without a view. */
export function useViewOnlyReason(): string | undefined {
  return useAccount().isView ? 'You are viewing this account, and can’t change it' : undefined;
}

const ranks: Readonly<Record<Role, number>> = { viewer: 0, member: 1, owner: 2 };

/** Why this person may not do what the role is needed for; undefined when they may. */
export function useNotAllowedReason(needed: Role): string | undefined {
  const { role } = useAccount();
  const viewReason = useViewOnlyReason();
  if (viewReason !== undefined) return viewReason;
  if (role !== undefined && ranks[role] >= ranks[needed]) return undefined;
  return needed === 'owner' ? 'Only owners of this account can do this' : 'Viewers of this account cannot do this';
}
