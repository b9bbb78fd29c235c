import { useState } from 'preact/hooks';

/** Reports media that is not in the draft yet, and why the form has to wait for it. Returns a function that ends the wait. */
export type OnPending = (reason: string) => () => void;

/** A request that is sent while a file is uploaded, or while a URL is typed, would be charged and lack that file. */
export function usePendingMedia() {
  const [pending, setPending] = useState<readonly { readonly reason: string }[]>([]);
  const [onPending] = useState((): OnPending => (reason) => {
    const added = { reason };
    setPending((all) => [...all, added]);
    return () => setPending((all) => all.filter((one) => one !== added));
  });
  return { reason: pending[0]?.reason, onPending };
}
