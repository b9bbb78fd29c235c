import { useEffect } from 'preact/hooks';
import type { Me } from '../../api/contract.ts';
import { brand } from '../../api/page-brand.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { Banner, forgetDismissal } from '../../ui/feedback/banner.tsx';
import { LinkButton } from '../../ui/controls/button.tsx';
import { ExternalLink } from '../../ui/controls/icons.ts';
import { AnnouncementBanner } from './announcement-banner.tsx';
import { bannerText as text } from './banner-text.ts';
import { OperatorViewBanner } from './operator-view-banner.tsx';

/** The news of an account, above each of its pages: at most one banner of a kind, the most urgent first. */
export function AccountBanners({ me }: { readonly me: Me }) {
  return (
    // The element is always there, so that a new banner is announced.
    <div role="status">
      <OperatorViewBanner />
      <Suspended me={me} />
      <AnnouncementBanner me={me} />
      <Notices />
    </div>
  );
}

/** The banners of operators' pages. */
export function OperatorBanners({ me }: { readonly me: Me }) {
  return (
    <div role="status">
      <AnnouncementBanner me={me} />
    </div>
  );
}

/** Otherwise people learn of a suspension only from a refused request. */
function Suspended({ me }: { readonly me: Me }) {
  const { accountId } = useAccount();
  const shown = [...me.accounts, ...(me.view === null ? [] : [me.view])];
  const suspension = shown.find((account) => account.accountId === accountId)?.suspension ?? null;
  if (suspension === null) return null;
  return (
    <Banner tone="bad" action={<SupportLink />}>
      {text.suspended}
      {suspension.reason !== null && (
        <>
          {' '}
          {text.reason} <bdi>{suspension.reason}</bdi>
        </>
      )}
    </Banner>
  );
}

const everyMs = 60_000;

/** The trouble of models, and a low balance. Both are silent while they are unknown. */
function Notices() {
  const { accountId, role } = useAccount();
  const { data } = useRead('/api/v1/status', {}, { everyMs });
  const name = `balance-${accountId}`;
  const isLow = data && data.balance < (data.lowBalance ?? 1);
  useEffect(() => {
    if (isLow === false) forgetDismissal(name);
  }, [isLow, name]);
  if (data === undefined) return null;
  const { balance, lowBalance, models } = data;
  return (
    <>
      {models.length > 0 && <Banner tone="warn">{text.trouble(models)}</Banner>}
      {isLow === true && (
        <Banner
          tone="warn"
          // A new threshold, or an empty account, is another warning.
          dismissal={{ name, id: balance <= 0 ? 'empty' : `${lowBalance}` }}
          action={role === 'owner' && <BuyCredits sells={data.sellsCredits} href={accountPaths.credits(accountId)} />}
        >
          {text.lowBalance(balance)}
        </Banner>
      )}
    </>
  );
}

function BuyCredits({ sells, href }: { readonly sells: boolean; readonly href: string }) {
  if (sells) {
    return (
      <LinkButton href={href} size="small">
        {text.buyCredits}
      </LinkButton>
    );
  }
  if (brand.buyCredits === undefined) return null;
  return <OutsideButton href={brand.buyCredits}>{text.buyCredits}</OutsideButton>;
}

function SupportLink() {
  if (brand.support === undefined) return null;
  return <OutsideButton href={brand.support}>{text.support}</OutsideButton>;
}

function OutsideButton({ href, children }: { readonly href: string; readonly children: string }) {
  return (
    <a class="button small" href={href} {...(href.startsWith('http') && { target: '_blank', rel: 'noopener' })}>
      {children}
      {href.startsWith('http') && <ExternalLink size={14} aria-hidden="true" />}
    </a>
  );
}
