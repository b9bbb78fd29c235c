import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';

/** Lists name accounts by their ids; the names of the first hundred are known, as most installations have fewer. */
function useAccountName(accountId: string): string | undefined {
  const { data } = useRead('/api/admin/v1/accounts', { limit: 100 });
  return data?.accounts.find((account) => account.accountId === accountId)?.name;
}

/** The end of an id tells it from its neighbours: it begins with the time at which it was made. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}

export function AccountLink({ accountId }: { readonly accountId: string }) {
  const name = useAccountName(accountId);
  return (
    <Link href={opsPaths.account(accountId)} class="above" title={accountId}>
      {name ?? <code>{shortId(accountId)}</code>}
    </Link>
  );
}

type TaskLinkProps = { readonly taskId: string; readonly children?: ComponentChildren; readonly isRow?: boolean };

export function TaskLink({ taskId, children, isRow }: TaskLinkProps) {
  return (
    <Link href={opsPaths.task(taskId)} title={taskId} class={isRow === true ? 'row-link' : 'above'}>
      {children ?? <code>{shortId(taskId)}</code>}
    </Link>
  );
}
