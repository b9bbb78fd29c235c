import { BookOpen, ChartColumn, Check, ChevronsUpDown, ShieldCheck } from '../ui/controls/icons.ts';
import { Link, useLocation } from 'wouter-preact';
import type { Me } from '../api/contract.ts';
import { useAccount } from '../api/session.ts';
import { docsPath, operatorPaths, accountPaths } from '../paths.ts';
import { Menu } from '../ui/controls/menu.tsx';
import { useBalance } from '../features/credits/use-balance.ts';
import { roleWord } from '../features/people/role-text.ts';
import { accountNav, type NavLink, operatorNav, personalNav } from './nav.ts';
import { shellText } from './shell-text.ts';
import { PersonMenu } from './person-menu.tsx';

export function AccountSidebar({ me }: { readonly me: Me }) {
  const { accountId, role, isView } = useAccount();
  return (
    <>
      <Switcher me={me} />
      <Pages links={accountNav(accountId, role)} root={accountPaths.overview(accountId)} />
      <div class="foot">
        <Balance />
        <Documentation />
        <PersonMenu me={me} pages={personalNav(isView ? undefined : accountId)} />
      </div>
    </>
  );
}

export function OperatorSidebar({ me }: { readonly me: Me }) {
  return (
    <>
      <Switcher me={me} />
      {me.user.isOperator && <Pages links={operatorNav} root={operatorPaths.overview} />}
      <div class="foot">
        <Documentation />
        <PersonMenu me={me} pages={me.user.isOperator ? personalNav(undefined) : []} />
      </div>
    </>
  );
}

function Pages({ links, root }: { readonly links: readonly NavLink[]; readonly root: string }) {
  const [path] = useLocation();
  const sections = [...new Set(links.map(({ section }) => section))];
  const isCurrent = (href: string) => path === href || (href !== root && path.startsWith(`${href}/`));
  return (
    <nav aria-label={shellText.pages}>
      {sections.map((section) => (
        <div key={section}>
          <p class="group">{section}</p>
          <ul>
            {links
              .filter((link) => link.section === section)
              .map(({ href, title, icon: Icon }) => (
                <li key={href}>
                  <Link href={href} {...(isCurrent(href) && { 'aria-current': 'page' })}>
                    <Icon size={16} aria-hidden="true" />
                    {title}
                  </Link>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Which account the page shows; tabs may hold different ones, since it stands in the address. */
function Switcher({ me }: { readonly me: Me }) {
  const { accountId, name, role } = useAccount();
  const [path] = useLocation();
  const isOps = role === undefined;
  const title =
    role !== undefined ? name : path.startsWith(operatorPaths.overview) ? shellText.operators : shellText.noAccount;
  const trigger = (
    <>
      <span class={isOps ? 'mark ops' : 'mark'} aria-hidden="true">
        {isOps ? <ShieldCheck size={16} /> : name.charAt(0).toUpperCase()}
      </span>
      <span class="names">
        <span class="visually-hidden">{shellText.account}</span>
        <strong class="truncate">{title}</strong>{' '}
        <small>
          {role !== undefined
            ? roleWord(role)
            : title === shellText.operators
              ? shellText.wholeService
              : shellText.chooseAccount}
        </small>
      </span>
      <ChevronsUpDown size={14} aria-hidden="true" />
    </>
  );
  return (
    <Menu label={shellText.accounts} triggerClass="switcher" hasWords trigger={trigger}>
      <p class="heading">{shellText.accounts}</p>
      {me.accounts.map((account) => (
        <Link key={account.accountId} href={accountPaths.overview(account.accountId)}>
          <span class="truncate">{account.name}</span>
          {account.accountId === accountId && <Check size={14} aria-label={shellText.current} />}
        </Link>
      ))}
      {me.user.isOperator && (
        <>
          <hr />
          <Link href={operatorPaths.overview}>
            <ChartColumn size={16} aria-hidden="true" /> {shellText.operate}
          </Link>
        </>
      )}
    </Menu>
  );
}

/** The formats of money stay out of the first page, which has no other amount. */
function Balance() {
  const { accountId } = useAccount();
  const balance = useBalance();
  return (
    <Link href={accountPaths.credits(accountId)} class="balance">
      {shellText.balance}{' '}
      <strong>{balance === undefined ? '…' : balance === null ? '–' : balance.toLocaleString('en')}</strong>
    </Link>
  );
}

function Documentation() {
  return (
    <nav aria-label={shellText.help}>
      <a href={docsPath} target="_blank" rel="noopener">
        <BookOpen size={16} aria-hidden="true" /> {shellText.documentation}
      </a>
    </nav>
  );
}
