import { useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import type { Account } from '../../api/contract.ts';
import { replaceMe } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { accountsText } from './accounts-text.ts';

type Props = { readonly account: Account; readonly onClose: () => void };

/** Opens the account as its owner sees it. */
export function ViewAsOwnerDialog({ account: { accountId, name }, onClose }: Props) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  return (
    <ActionDialog
      path="/api/console/v1/view"
      title={accountsText.viewTitle(name)}
      action={accountsText.viewAction}
      reason={auditReasonHint}
      body={(reason) => ({ accountId, reason })}
      onDone={(me) => {
        replaceMe(client, me);
        navigate(accountPaths.overview(accountId));
      }}
      help={accountsText.viewHelp}
      onClose={onClose}
    />
  );
}
