import type { ComponentChildren } from 'preact';
import './badge.css';

/** A color stands beside a word, never alone. */
export type Tone = 'good' | 'bad' | 'warn' | 'live' | 'calm';

export function Badge({ tone = 'calm', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** A dot and a word. */
export function StateDot({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class="state">
      <span class={`dot ${tone}`} aria-hidden="true" />
      {children}
    </span>
  );
}
