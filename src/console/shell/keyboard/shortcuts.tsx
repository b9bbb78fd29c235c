import { useContext, useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AccountContext } from '../../api/account-context.ts';
import { useAccount } from '../../api/session.ts';
import { ShortcutList } from './shortcut-list.tsx';
import { accountNav } from '../nav.ts';
import { GoToDialog } from './go-to-dialog.tsx';

/** The second key comes within this time after `g`. */
const togetherMs = 1200;

/**
 * `g` and a letter lead to a page, `/` to the search field, `?` lists them; never while something is typed or a dialog is open. Ctrl or ⌘
 * with `k` opens the palette, also while something is typed.
 */
export function Shortcuts() {
  const account = useContext(AccountContext);
  const { role } = useAccount();
  const [, navigate] = useLocation();
  const [shown, setShown] = useState<'list' | 'palette'>();
  useEffect(() => {
    let goAt = -Infinity;
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      const hasDialog = document.querySelector('dialog[open]') !== null;
      if (key === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (!hasDialog) setShown('palette');
        return;
      }
      if (hasDialog || event.metaKey || event.ctrlKey || event.altKey || isTyping(target)) return;
      if (key === '?') setShown('list');
      else if (key === '/') focusSearch(event);
      else if (key === 'g') goAt = event.timeStamp;
      else if (event.timeStamp - goAt < togetherMs && account !== undefined) {
        goAt = -Infinity;
        const link = accountNav(account, role).find((one) => one.key === key);
        if (link !== undefined) navigate(link.href);
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [account, role, navigate]);
  const close = () => setShown(undefined);
  if (shown === 'palette') return <GoToDialog onClose={close} />;
  return shown && <ShortcutList pages={account === undefined ? [] : accountNav(account, role)} onClose={close} />;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [popover]') !== null;
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('input[type="search"]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}
