import { Check, CircleAlert } from '../controls/icons.ts';
import { useEffect, useState } from 'preact/hooks';
import { failureOf } from '../../api/api-problem-and-words.ts';
import './toast.css';

type Toast = { readonly id: number; readonly text: string; readonly tone: 'good' | 'bad' };

const listeners = new Set<(toast: Toast) => void>();
let lastId = 0;

/** A sentence about something done, at the edge of the window for some seconds. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  lastId += 1;
  for (const listener of listeners) listener({ id: lastId, text, tone });
}

/** Reports a failure that no part of the page shows. */
export function toastFailure(error: unknown): void {
  toast(failureOf(error).sentence, 'bad');
}

const shownMs = 5000;

/** Every modal dialog has its own, because the page below it is covered and inert; those of the page outlive the dialog. */
export function Toasts() {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  useEffect(() => {
    const listen = (added: Toast) => {
      setToasts((shown) => [...shown.slice(-2), added]);
      setTimeout(() => setToasts((shown) => shown.filter(({ id }) => id !== added.id)), shownMs);
    };
    listeners.add(listen);
    return () => void listeners.delete(listen);
  }, []);
  return (
    <div class="toasts" role="status">
      {toasts.map(({ id, text, tone }) => (
        <p key={id} class={`toast ${tone}`}>
          {tone === 'good' ? <Check size={16} aria-hidden="true" /> : <CircleAlert size={16} aria-hidden="true" />}
          {text}
        </p>
      ))}
    </div>
  );
}
