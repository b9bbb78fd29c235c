import { useContext, useId, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { AccountContext } from '../../api/account-context.ts';
import { useMe } from '../../api/session.ts';
import { operatorPaths, accountPaths } from '../../paths.ts';
import { Dialog } from '../../ui/forms/dialog.tsx';
import { keyboardText } from './keyboard-text.ts';
import { accountNav, type NavLink, operatorNav } from '../nav.ts';
import { shellText } from '../shell-text.ts';
import './go-to-dialog.css';

const words = keyboardText.palette;

type Goal = { readonly href: string; readonly label: string; readonly group: string; readonly words?: string };

/** A longer list is not read; a few letters of a name shorten it. */
const maxGoals = 24;

/** Leads to a page, another account or a task: a few letters, then Enter. */
export function GoToDialog({ onClose }: { readonly onClose: () => void }) {
  const id = useId();
  const [, navigate] = useLocation();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const goals = useGoals(text.trim());
  const index = Math.min(chosen, goals.length - 1);
  const active = goals[index];
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 || goals.length === 0) return;
    event.preventDefault();
    setChosen((index + step + goals.length) % goals.length);
  };
  const go = (href: string) => {
    onClose();
    navigate(href);
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (active !== undefined) go(active.href);
        }}
      >
        <div class="body">
          <input
            class="input"
            role="combobox"
            aria-label={words.label}
            placeholder={words.label}
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls={`${id}-list`}
            {...(active !== undefined && { 'aria-activedescendant': `${id}-${index}` })}
            autocomplete="off"
            spellcheck={false}
            value={text}
            onKeyDown={move}
            onInput={({ currentTarget }) => {
              setText(currentTarget.value);
              setChosen(0);
            }}
          />
          <GoalList id={id} goals={goals} index={index} onClose={onClose} />
          <p class="soft" role="status">
            {goals.length === 0 ? words.none : ''}
          </p>
        </div>
      </form>
    </Dialog>
  );
}

type ListProps = {
  readonly id: string;
  readonly goals: readonly Goal[];
  readonly index: number;
  readonly onClose: () => void;
};

function GoalList({ id, goals, index, onClose }: ListProps) {
  return (
    <div class="goals" id={`${id}-list`} role="listbox" aria-label={words.results}>
      {goals.map(({ href, label, group }, at) => (
        <Link
          key={href}
          href={href}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === index}
          tabIndex={-1}
          ref={at === index ? inSight : null}
          onClick={onClose}
        >
          <span>{label}</span>
          <small class="soft">{group}</small>
        </Link>
      ))}
    </div>
  );
}

function inSight(element: EventTarget | null): void {
  if (element instanceof Element) element.scrollIntoView({ block: 'nearest' });
}

/** Matches of the text among the pages that this person can open. */
function useGoals(text: string): readonly Goal[] {
  const account = useContext(AccountContext);
  const { data: me } = useMe();
  const accounts = me?.accounts ?? [];
  const own = accounts.find(({ accountId }) => accountId === account);
  const pages = own === undefined ? [] : goalsOf(accountNav(own.accountId, own.role), own.name);
  const operators = me?.user.isOperator === true ? goalsOf(operatorNav, shellText.operators) : [];
  const others = accounts
    .filter(({ accountId }) => accountId !== account)
    .map(({ accountId, name }) => ({ href: accountPaths.overview(accountId), label: name, group: shellText.accounts }));
  const query = text.toLowerCase();
  const all: readonly Goal[] = own === undefined ? [...operators, ...others] : [...pages, ...others, ...operators];
  const named = all.filter(({ label, group, words: also = '' }) =>
    `${label} ${group} ${also}`.toLowerCase().includes(query),
  );
  const isOperator = me?.user.isOperator === true;
  const found = [...tasksOf(query, own?.accountId, isOperator), ...named].slice(0, maxGoals);
  return isOperator ? [...found, ...accountsOf(text.trim())] : found;
}

/** For operators: the account of this id, or a search for those whose name begins with the text. */
function accountsOf(text: string): readonly Goal[] {
  if (text === '') return [];
  if (wholeId.test(text.toLowerCase()))
    return [{ href: operatorPaths.account(text.toLowerCase()), label: words.account(text), group: words.accountGroup }];
  const href = `${operatorPaths.accounts}?search=${encodeURIComponent(text)}`;
  return [{ href, label: words.accountsWith(text), group: words.searchGroup }];
}

function goalsOf(links: readonly NavLink[], group: string): readonly Goal[] {
  return links.map(({ href, title, words: also = '' }) => ({ href, label: title, group, words: also }));
}

const wholeId = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const partOfId = /^[0-9a-f-]{4,36}$/;

/** The task of this id, or a search for those whose id contains the text. */
function tasksOf(text: string, account: string | undefined, isOperator: boolean): readonly Goal[] {
  if (!partOfId.test(text) || (account === undefined && !isOperator)) return [];
  const isWhole = wholeId.test(text);
  const label = isWhole ? words.task(text) : words.tasksWith(text);
  const list = account === undefined ? operatorPaths.tasks : accountPaths.tasks(account);
  const whole = account === undefined ? operatorPaths.task(text) : accountPaths.task(account, text);
  const href = isWhole ? whole : `${list}?search=${encodeURIComponent(text)}`;
  return [{ href, label, group: isWhole ? words.taskGroup : words.searchGroup }];
}
