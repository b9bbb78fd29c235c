import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AccountContext } from '../../api/account-context.ts';
import { personalNav } from '../../shell/nav.ts';
import { Page } from '../../ui/page-card-facts-and-tiles.tsx';
import { TabLinks } from '../../ui/controls/tab-links.tsx';
import { securityText } from './security-text.ts';

type PersonalProps = { readonly lead: string; readonly children: ComponentChildren };

/** A page of a person's own settings, the same in every account. */
export function PersonalPage({ lead, children }: PersonalProps) {
  const pages = personalNav(useContext(AccountContext));
  const [path] = useLocation();
  return (
    <Page lead={lead}>
      <TabLinks
        label={securityText.personalTabs}
        tabs={pages.map(({ href, title }) => ({ href, label: title, isCurrent: path === href }))}
      />
      {children}
    </Page>
  );
}
