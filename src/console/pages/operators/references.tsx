import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { shortId } from '../../ui/copy.tsx';
import { FilterSelect } from '../../ui/field.tsx';

/** Lists name accounts by their ids; the names of the first hundred are known, and most installations have fewer. */
function useAccounts() {
  const { data } = useRead('/api/admin/v1/accounts', { limit: 100 });
  return data?.accounts ?? [];
}

export function AccountLink({ accountId }: { readonly accountId: string }) {
  const name = useAccounts().find((account) => account.accountId === accountId)?.name;
  return (
    <Link href={opsPaths.account(accountId)} class="above account-name" title={name ?? accountId}>
      {name ?? <code>{shortId(accountId)}</code>}
    </Link>
  );
}

type TaskLinkProps = { readonly taskId: string; readonly children?: ComponentChildren; readonly isRow?: boolean };

/** By its prompt where a row has one, which may be in any script, else by its id. */
export function TaskLink({ taskId, children, isRow }: TaskLinkProps) {
  const isPrompt = isRow === true;
  return (
    <Link
      href={opsPaths.task(taskId)}
      title={isPrompt ? undefined : taskId}
      class={isPrompt ? 'row-link prompt' : 'above'}
      dir={isPrompt ? 'auto' : undefined}
    >
      {children ?? <code>{shortId(taskId)}</code>}
    </Link>
  );
}

type FilterProps = { readonly value: string; readonly onValue: (accountId: string) => void };

/** One of the first hundred accounts; what concerns another one is on its own page. */
export function AccountFilter({ value, onValue }: FilterProps) {
  const known = useAccounts().map(({ accountId, name }) => ({ value: accountId, label: name }));
  const other = value === '' || known.some((one) => one.value === value) ? [] : [{ value, label: shortId(value) }];
  return (
    <FilterSelect
      label="Account"
      value={value}
      options={[{ value: '', label: 'All accounts' }, ...known, ...other]}
      onValue={onValue}
    />
  );
}
