import { useQueryClient } from '@tanstack/preact-query';
import { useEffect } from 'preact/hooks';
import type { TopUp } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useAccount } from '../../api/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { paymentsText as text } from './payments-text.ts';

const soonMs = 2000;
const laterMs = 15_000;

/** Shows the outcome of a purchase to an owner whom the payment provider has sent back. */
export function CheckoutReturn() {
  const { get } = useUrlParameters();
  const [topUpId, outcome] = [get('topUp'), get('checkout')];
  if (topUpId === undefined) return null;
  return (
    <div role="status">
      {outcome === 'cancelled' ? (
        <Outcome title={text.cancelled} lead={text.cancelledLead} />
      ) : (
        <Purchase topUpId={topUpId} />
      )}
    </div>
  );
}

function Purchase({ topUpId }: { readonly topUpId: string }) {
  const { accountId } = useAccount();
  const client = useQueryClient();
  // The newest purchases hold it, because few checkouts of an account may be open.
  const { data } = useRead(
    '/api/console/v1/credits/top-ups',
    { limit: 50 },
    { everyMs: (page) => paceOf(page?.topUps.find((one) => one.topUpId === topUpId)) },
  );
  const purchase = data?.topUps.find((one) => one.topUpId === topUpId);
  const isPaid = purchase?.state === 'paid';
  useEffect(() => {
    // Balance and ledger were read before the grant.
    if (isPaid) void client.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === accountId });
  }, [isPaid, client, accountId]);
  if (data !== undefined && purchase === undefined) return null;
  switch (purchase?.state) {
    case 'paid':
      return <Outcome tone="good" title={text.added(purchase.credits)} lead={text.addedLead} />;
    case 'processing':
      return <Outcome title={text.onItsWay} lead={text.onItsWayLead} />;
    case 'failed':
    case 'expired':
      return <Outcome tone="bad" title={text[purchase.state]} lead={text[`${purchase.state}Lead`]} />;
    case 'open':
    case undefined:
    default:
      return <Outcome title={text.received} lead={text.receivedLead} />;
  }
}

/** The pause before the next read; none follows once the purchase has ended. */
function paceOf(purchase: TopUp | undefined): number | false {
  if (purchase?.state === 'open') return soonMs;
  return purchase?.state === 'processing' ? laterMs : false;
}

type OutcomeProps = {
  readonly tone?: 'good' | 'bad';
  readonly title: string;
  readonly lead: string;
};

function Outcome({ tone, title, lead }: OutcomeProps) {
  const { get, set } = useUrlParameters();
  const leave = (tab: string | undefined) => set({ topUp: undefined, checkout: undefined, tab });
  return (
    <Notice {...(tone !== undefined && { tone })} title={title} text={lead}>
      <div class="row">
        {get('tab') !== 'purchases' && (
          <Button size="small" onClick={() => leave('purchases')}>
            {text.seePurchases}
          </Button>
        )}
        <Button size="small" variant="quiet" onClick={() => leave(get('tab'))}>
          {text.dismiss}
        </Button>
      </div>
    </Notice>
  );
}
