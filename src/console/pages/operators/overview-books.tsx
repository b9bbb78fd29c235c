import type { AdminOverview } from '../../api/planned-ops.ts';
import { StateDot } from '../../ui/badge.tsx';
import { number } from '../../ui/money.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card } from '../../ui/page.tsx';
import { duration, useNow } from '../../ui/time.tsx';

/** The service adds up every ledger again and again; this is when it last did, and whether the sums agree. */
export function BooksCard({ books: { auditedTime, violations } }: { readonly books: AdminOverview['books'] }) {
  const now = useNow(1000);
  const when = auditedTime === null ? 'not checked yet' : `checked ${duration(secondsSince(auditedTime, now))} ago`;
  return (
    <Card title="Books">
      {violations === 0 ? (
        <StateDot tone={auditedTime === null ? 'calm' : 'good'}>
          {auditedTime === null ? `The books were ${when}` : `Every balance equals its ledger, ${when}`}
        </StateDot>
      ) : (
        <Notice tone="bad" title={`${number(violations)} ${violations === 1 ? 'violation' : 'violations'}, ${when}`}>
          <p>A balance does not equal its ledger. Do not change credits by hand; look at the log of the worker.</p>
        </Notice>
      )}
    </Card>
  );
}

/** In whole seconds, so that the figure does not tremble; clocks may differ a little. */
function secondsSince(ms: number, now: number): number {
  return Math.max(1, Math.round((now - ms) / 1000)) * 1000;
}
