import type { Tone } from '../controls/words-and-tones.ts';
import '../controls/badge.css';
import './meter.css';

type MeterProps = {
  /** From 0 to 1. */
  readonly share: number;
  readonly tone?: Tone;
  /** The tone of the rest. */
  readonly rest?: 'bad';
};

/** A share as a bar, beside the same share as a figure. */
export function Meter({ share, tone, rest }: MeterProps) {
  const classes = ['meter', tone, rest !== undefined && `rest-${rest}`].filter(Boolean).join(' ');
  return (
    <span class={classes} aria-hidden="true">
      {share > 0 && <span style={{ width: `${100 * Math.min(1, share)}%` }} />}
    </span>
  );
}

/** The used part of a limit, which warns before the limit is reached. */
export function LimitMeter({ used, limit }: { readonly used: number; readonly limit: number }) {
  const share = limit === 0 ? 1 : used / limit;
  return <Meter share={share} tone={share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'live'} />;
}
