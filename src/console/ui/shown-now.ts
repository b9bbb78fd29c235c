import { useRef } from 'preact/hooks';
import { useNow } from './time.tsx';

const everyMs = 60_000;

/**
 * The time to which a list counts back, renewed each minute. It stands still while the list is paused or the page is hidden, because
 * another time is another question to the service.
 */
export function useShownNow(isPaused = false): number {
  const now = useNow(everyMs);
  const shown = useRef(now);
  if (!isPaused && !document.hidden) shown.current = now;
  return shown.current;
}
