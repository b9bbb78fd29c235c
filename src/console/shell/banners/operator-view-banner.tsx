import { useQueryClient } from '@tanstack/preact-query';
import { useLocation } from 'wouter-preact';
import { send } from '../../api/call.ts';
import { useSudoAction } from '../../api/read-and-send-hooks.ts';
import { replaceMe, useAccount } from '../../api/session.ts';
import { operatorPaths } from '../../paths.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Eye } from '../../ui/controls/icons.ts';
import { toastFailure } from '../../ui/feedback/toast.tsx';
import { shellText } from '../shell-text.ts';

/** Names the account whose pages an operator views, with the way out. */
export function OperatorViewBanner() {
  const { accountId, name, isView } = useAccount();
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const end = useSudoAction(() => send('/api/console/v1/view/end', {}, { account: undefined }), {
    onDone: (me) => {
      navigate(operatorPaths.account(accountId));
      replaceMe(client, me);
    },
    onError: toastFailure,
  });
  if (!isView) return null;
  return (
    <Banner
      tone="live"
      icon={Eye}
      action={
        <Button size="small" busy={end.isPending} onClick={() => end.mutate()}>
          {shellText.endView}
        </Button>
      }
    >
      <bdi>{shellText.viewing(name)}</bdi>
    </Banner>
  );
}
