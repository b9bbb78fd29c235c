import type { ComponentChildren } from 'preact';
import { Link } from 'wouter-preact';
import { useId, useState } from 'preact/hooks';
import { useRead } from '../../api/queries.ts';
import { opsPaths } from '../../paths.ts';
import { shortId } from '../../ui/copy.tsx';
import { FilterSelect } from '../../ui/field.tsx';
import { number, type CreditAmounts } from '../../ui/money.tsx';

const manyAccounts = 100;

/** The first hundred accounts, which most installations do not exceed. */
function useAccounts() {
  const { data } = useRead('/api/admin/v1/accounts', { limit: manyAccounts });
  return data;
}

/** Lists refer to accounts by id. The name of one that is not among the first hundred is read by itself. */
function useAccountName(accountId: string): string | undefined {
  const first = useAccounts();
  const known = first?.accounts.find((account) => account.accountId === accountId);
  const isEnabled = accountId !== '' && first !== undefined && known === undefined;
  const { data } = useRead('/api/admin/v1/accounts', { search: accountId, limit: 1 }, { isEnabled });
  return (known ?? data?.accounts.find((account) => account.accountId === accountId))?.name;
}

export function AccountLink({ accountId }: { readonly accountId: string }) {
  const name = useAccountName(accountId);
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

/** A choice of accounts; where there are many, a text field that searches their names. */
export function AccountFilter({ value, onValue }: FilterProps) {
  const first = useAccounts();
  if (typeof first?.nextCursor === 'string') return <AccountSearch value={value} onValue={onValue} />;
  const known = (first?.accounts ?? []).map(({ accountId, name }) => ({ value: accountId, label: name }));
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

type SearchProps = FilterProps & { readonly id?: string; readonly isOpenOnly?: boolean };

/** Offers the accounts whose name begins with the text, or whose id it is. Names repeat, so each choice ends with its id. */
export function AccountSearch({ value, onValue, id, isOpenOnly = false }: SearchProps) {
  const [text, setText] = useState('');
  const listId = useId();
  const name = useAccountName(value);
  const search = text.trim().replace(ofChoice, '').slice(0, 200);
  const { data } = useRead('/api/admin/v1/accounts', { limit: 20, ...(search !== '' && { search }) }, { keeps: true });
  const found = (data?.accounts ?? []).filter(({ closeTime }) => !isOpenOnly || closeTime === null);
  const choices = found.map((account) => ({ ...account, label: `${account.name} (${account.accountId})` }));
  return (
    <>
      <input
        id={id}
        type="search"
        class="input search"
        {...(id === undefined && { 'aria-label': 'Account' })}
        placeholder={isOpenOnly ? 'None' : 'All accounts'}
        list={listId}
        value={value === '' ? text : (name ?? value)}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          const chosen = choices.find(({ label }) => label === currentTarget.value);
          if (chosen !== undefined || value !== '') onValue(chosen?.accountId ?? '');
        }}
      />
      <datalist id={listId}>
        {choices.map(({ accountId, label }) => (
          <option key={accountId} value={label} aria-label={label} />
        ))}
      </datalist>
    </>
  );
}

const ofChoice = / \([0-9a-f-]{36}\)$/;

/** A model, and which of its prices. */
export function PriceOf({ model, name }: { readonly model: string; readonly name: string }) {
  return (
    <>
      <code class="nowrap">{model}</code>
      <small class="under">
        <bdi>{name}</bdi>
      </small>
    </>
  );
}

/** "33 a second" above "7 a video", which add up. */
export function Amounts({ of: { creditsPerSecond, creditsPerVideo } }: { readonly of: CreditAmounts }) {
  return (
    <>
      {creditsPerSecond > 0 && <div class="nowrap">{number(creditsPerSecond)} a second</div>}
      {creditsPerVideo > 0 && <div class="nowrap">{number(creditsPerVideo)} a video</div>}
    </>
  );
}
