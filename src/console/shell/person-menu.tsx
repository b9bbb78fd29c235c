import { ChevronsUpDown, CircleUser, LifeBuoy, LogOut, Monitor, Moon, Sun } from '../ui/controls/icons.ts';
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { brand } from '../api/page-brand.ts';
import type { Me } from '../api/contract.ts';
import { signOut, useReplaceSession } from '../api/session.ts';
import { deleteDrafts } from '../features/playground/draft/draft-storage-key-and-deletion.ts';
import { signInPaths } from '../paths.ts';
import { Menu } from '../ui/controls/menu.tsx';
import { toastFailure } from '../ui/feedback/toast.tsx';
import type { NavLink } from './nav.ts';
import { shellText } from './shell-text.ts';

const themes = [
  ['system', Monitor],
  ['light', Sun],
  ['dark', Moon],
] as const;

type Theme = (typeof themes)[number][0];

type PersonMenuProps = {
  readonly me: Me;
  /** Their own pages; none for a user without any page. */
  readonly pages: readonly NavLink[];
};

export function PersonMenu({ me, pages }: PersonMenuProps) {
  const [theme, setTheme] = useState(themeOf);
  const signedIn = useReplaceSession();
  const [, navigate] = useLocation();
  const leave = () =>
    void signOut().then(() => {
      deleteDrafts();
      signedIn(null);
      // Without `next`: they left on purpose, and the next person at this browser may be another one.
      navigate(signInPaths.signIn);
    }, toastFailure);
  const trigger = (
    <>
      <CircleUser size={18} aria-hidden="true" />
      <span class="names">
        <span class="visually-hidden">{shellText.youAre}</span>
        <span class="truncate">{me.user.email}</span>
      </span>
      <ChevronsUpDown size={14} aria-hidden="true" />
    </>
  );
  return (
    <Menu label={shellText.you} triggerClass="switcher" hasWords trigger={trigger}>
      <p class="heading">{shellText.theme}</p>
      {themes.map(([name, Icon]) => (
        <button key={name} type="button" aria-pressed={theme === name} onClick={() => setTheme(chosen(name))}>
          <Icon size={16} aria-hidden="true" /> {shellText.themes[name]}
          {theme === name && <span class="badge">{shellText.themeOn}</span>}
        </button>
      ))}
      <hr />
      {pages.map(({ href, title, icon: Icon }) => (
        <Link key={href} href={href}>
          <Icon size={16} aria-hidden="true" /> {title}
        </Link>
      ))}
      {brand.support !== undefined && (
        <a href={brand.support}>
          <LifeBuoy size={16} aria-hidden="true" /> {shellText.support}
        </a>
      )}
      <button type="button" onClick={leave}>
        <LogOut size={16} aria-hidden="true" /> {shellText.signOut}
      </button>
    </Menu>
  );
}

/** Read by apply-stored-theme.ts before the first paint. */
const stored = 'videogen-theme';

function themeOf(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

function chosen(theme: Theme): Theme {
  if (theme === 'system') {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(stored);
  } else {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(stored, theme);
  }
  return theme;
}
