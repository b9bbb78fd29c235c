import { Link } from 'wouter-preact';
import { brand } from '../../../api/page-brand.ts';
import { useRead } from '../../../api/read-and-send-hooks.ts';
import { useAccount, useIsOwner } from '../../../api/session.ts';
import { accountPaths } from '../../../paths.ts';
import { playgroundText } from '../playground-text.ts';

/** Leads owners to the credits for sale, here or elsewhere, or else to support. Members cannot buy any. */
export function HowToAddCredits() {
  const { accountId } = useAccount();
  const isOwner = useIsOwner();
  const { data } = useRead('/api/v1/status', {});
  if (data === undefined) return null;
  if (!isOwner) return <>{playgroundText.ownersAdd}</>;
  if (data.sellsCredits) return <Link href={accountPaths.credits(accountId)}>{playgroundText.buyCredits}</Link>;
  const { buyCredits, support } = brand;
  const href = buyCredits ?? support;
  if (href === undefined) return <>{playgroundText.contactSupport}</>;
  return (
    <a href={href} {...(href.startsWith('http') && { target: '_blank', rel: 'noopener' })}>
      {buyCredits === undefined ? playgroundText.contactSupport : playgroundText.buyCredits}
    </a>
  );
}
