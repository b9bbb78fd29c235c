import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { useRead } from '../../api/read-and-send-hooks.ts';
import type { Filter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { accountsText } from './accounts-text.ts';

type SearchProps = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (accountId: string) => void;
  /** The field around it has the label. */
  readonly described?: JSX.HTMLAttributes<HTMLInputElement>;
};

const ofChoice = / \([0-9a-f-]{36}\)$/;

/** Offers the accounts whose name begins with the text. Names repeat, so each choice ends with the account's id. */
export function AccountSearch({ label, value, onValue, described = { 'aria-label': label } }: SearchProps) {
  const [text, setText] = useState('');
  const listId = useId();
  const name = useAccountName(value);
  const search = text.trim().replace(ofChoice, '').slice(0, 200);
  const { data } = useRead('/api/admin/v1/accounts', { limit: 20, ...(search !== '' && { search }) }, { keeps: true });
  const choices = (data?.accounts ?? []).map((one) => ({ ...one, label: `${one.name} (${one.accountId})` }));
  return (
    <>
      <input
        {...described}
        type="search"
        class="input search"
        placeholder={label}
        list={listId}
        value={value === '' ? text : (name ?? value)}
        onInput={({ currentTarget }) => {
          const chosen = choices.find((one) => one.label === currentTarget.value);
          // The text of a choice would return once the filters are cleared.
          setText(chosen === undefined ? currentTarget.value : '');
          if (chosen !== undefined || value !== '') onValue(chosen?.accountId ?? '');
        }}
      />
      <datalist id={listId}>
        {choices.map((one) => (
          <option key={one.accountId} value={one.label} aria-label={one.label} />
        ))}
      </datalist>
    </>
  );
}

function useAccountName(accountId: string): string | undefined {
  const { data } = useRead('/api/admin/v1/accounts', { search: accountId, limit: 1 }, { isEnabled: accountId !== '' });
  return data?.accounts.find((account) => account.accountId === accountId)?.name;
}

/** Narrows a list of operators to one account. */
export const accountFilter: Filter<{ accountId?: string | undefined }> = {
  name: 'account',
  label: accountsText.account,
  control: AccountSearch,
  query: (accountId) => ({ accountId }),
};
