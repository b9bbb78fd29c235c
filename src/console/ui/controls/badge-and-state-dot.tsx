import type { ComponentChildren } from 'preact';
import './badge.css';
import type { Tone, WordAndTone } from './words-and-tones.ts';

export function Badge({ tone = 'calm', children }: { readonly tone?: Tone; readonly children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export function WordWithDot({ of: { word, tone } }: { readonly of: WordAndTone }) {
  return <StateWithDot tone={tone}>{word}</StateWithDot>;
}

/** A dot and a word. */
export function StateWithDot({ tone, children }: { readonly tone: Tone; readonly children: ComponentChildren }) {
  return (
    <span class="state">
      <span class={`dot ${tone}`} aria-hidden="true" />
      {children}
    </span>
  );
}
