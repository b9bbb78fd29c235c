import { useQueryClient } from '@tanstack/preact-query';
import { WifiOff } from '../ui/icons.ts';
import { useEffect, useState } from 'preact/hooks';
import { problemOf } from '../api/problem.ts';

const words = {
  offline: 'The service does not answer.',
  recovering: 'The service is recovering.',
} as const;

/** Says that what is in sight may be old, and that the page goes on trying. */
export function OfflineBanner() {
  const client = useQueryClient();
  const [trouble, setTrouble] = useState<keyof typeof words>();
  useEffect(() => {
    const cache = client.getQueryCache();
    return cache.subscribe(({ type, query }) => {
      if (type !== 'updated' || query.getObserversCount() === 0) return;
      const { fetchStatus } = query.state;
      const fetchFailureReason: unknown = query.state.fetchFailureReason;
      const { error, status } = problemOf(fetchFailureReason);
      const isFailing = fetchFailureReason !== null;
      if (isFailing && error === 'offline') setTrouble('offline');
      else if (isFailing && status === 503) setTrouble('recovering');
      else if (!isFailing && fetchStatus === 'idle') setTrouble(undefined);
    });
  }, [client]);
  return (
    <div role="status">
      {trouble !== undefined && (
        <p class="banner">
          <WifiOff size={16} aria-hidden="true" />
          {words[trouble]} What you see may be out of date; the page goes on trying.
        </p>
      )}
    </div>
  );
}
