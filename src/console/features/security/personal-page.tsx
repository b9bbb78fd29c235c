import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AccountContext } from '../../api/queries.ts';
import { opsPaths, paths } from '../../paths.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { securityText } from './security-text.ts';

const text = securityText.personal;

type PersonalProps = { readonly title: string; readonly lead: string; readonly children: ComponentChildren };

/** A page of a person's own settings, the same in every account. */
export function PersonalPage({ title, lead, children }: PersonalProps) {
  const account = useContext(AccountContext);
  const [path] = useLocation();
  const [profile, security] =
    account === undefined ? [opsPaths.profile, opsPaths.security] : [paths.profile(account), paths.security(account)];
  const tabs = [
    { href: profile, label: text.profile },
    { href: security, label: text.security },
  ];
  return (
    <Page title={title} lead={lead}>
      <Tabs label={text.tabs} tabs={tabs.map((tab) => ({ ...tab, isCurrent: path === tab.href }))} />
      {children}
    </Page>
  );
}
