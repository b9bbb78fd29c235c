import { useQueryClient } from '@tanstack/preact-query';
import { WifiOff } from '../../ui/controls/icons.ts';
import { useEffect, useState } from 'preact/hooks';
import { apiProblemFromError } from '../../api/api-problem-and-words.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { shellText } from '../shell-text.ts';

/** A failing poll means that the page may be out of date. What was never read shows an error of its own. */
export function ServiceUnreachableBanner() {
  const client = useQueryClient();
  const [trouble, setTrouble] = useState<'offline' | 'recovering'>();
  useEffect(() => {
    const cache = client.getQueryCache();
    return cache.subscribe(({ type, query }) => {
      if (type !== 'updated' || query.getObserversCount() === 0) return;
      const { fetchStatus } = query.state;
      const wasRead = query.state.data !== undefined;
      const fetchFailureReason: unknown = query.state.fetchFailureReason;
      const { error, status } = apiProblemFromError(fetchFailureReason);
      const isFailing = fetchFailureReason !== null;
      if (isFailing && !wasRead) return;
      if (isFailing && error === 'offline') setTrouble('offline');
      else if (isFailing && status === 503) setTrouble('recovering');
      else if (!isFailing && fetchStatus === 'idle') setTrouble(undefined);
    });
  }, [client]);
  return (
    <div role="status">
      {trouble !== undefined && (
        <Banner tone="warn" icon={WifiOff}>
          {shellText[trouble]} {shellText.stale}
        </Banner>
      )}
    </div>
  );
}
