import { Link } from 'wouter-preact';
import { operatorPaths } from '../../paths.ts';
import { shortId } from '../../ui/controls/short-id.ts';
import './accounts.css';

type AccountLinkProps = { readonly accountId: string; readonly name: string | null };

/** On operators' pages. */
export function AccountLink({ accountId, name }: AccountLinkProps) {
  return (
    <Link href={operatorPaths.account(accountId)} class="above account-name truncate" title={name ?? accountId}>
      {name ?? <code>{shortId(accountId)}</code>}
    </Link>
  );
}
