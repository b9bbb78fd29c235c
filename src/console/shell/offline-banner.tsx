import { useQueryClient } from '@tanstack/preact-query';
import { WifiOff } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';

/** Says that what is in sight may be old: the service does not answer, and the page goes on trying. */
export function OfflineBanner() {
  const client = useQueryClient();
  const [isOffline, setOffline] = useState(false);
  useEffect(() => {
    const cache = client.getQueryCache();
    return cache.subscribe(({ type, query }) => {
      if (type !== 'updated' || query.getObserversCount() === 0) return;
      const { fetchStatus } = query.state;
      const fetchFailureReason: unknown = query.state.fetchFailureReason;
      const isAway = fetchFailureReason !== null && problemOf(fetchFailureReason).error === 'offline';
      if (isAway || fetchStatus === 'paused') setOffline(true);
      else if (fetchFailureReason === null && fetchStatus === 'idle') setOffline(false);
    });
  }, [client]);
  return (
    <div role="status">
      {isOffline && (
        <p class="banner">
          <WifiOff size={16} aria-hidden="true" />
          The service does not answer. What you see may be out of date; the page goes on trying.
        </p>
      )}
    </div>
  );
}
