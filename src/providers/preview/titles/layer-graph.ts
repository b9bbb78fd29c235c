import type { PlacedLayer } from './title-layer.ts';

/** A layer, and when it is to be seen; always, when no time is given. */
export type TimedLayer = PlacedLayer & { readonly time?: { readonly fromFrame: number; readonly frames: number } };

const fadeInFrames = 11;
const fadeOutFrames = 8;
/** A title comes up from below by so much, and is at rest when it is fully there. */
const risePx = 26;
const riseFrames = 14;

/**
 * The filter graph that lays the layers over `[picture]`, giving `[finished]`. Layer `i` is input `firstInput + i`, one
 * frame each. Made of numbers of ours alone; the words are pixels by now.
 */
export function layerGraph(layers: readonly TimedLayer[], firstInput: number): string {
  const chains = layers.map((layer, i) => {
    const from = i === 0 ? 'picture' : `laid${i - 1}`;
    const to = i === layers.length - 1 ? 'finished' : `laid${i}`;
    return `[${firstInput + i}:v]${timing(layer)}[layer${i}];[${from}][layer${i}]${overlay(layer)}[${to}]`;
  });
  return chains.join(';');
}

/** One frame repeated for as long as the title is there; its alpha fades. */
function timing({ time }: TimedLayer): string {
  if (time === undefined) return 'format=yuva420p';
  const frames = Math.max(1, time.frames);
  const fadeIn = `fade=t=in:s=0:n=${fadeInFrames}:alpha=1`;
  const fadeOut = `fade=t=out:s=${Math.max(0, frames - fadeOutFrames)}:n=${fadeOutFrames}:alpha=1`;
  return `format=yuva420p,loop=loop=${frames - 1}:size=1:start=0,setpts=N+${time.fromFrame},${fadeIn},${fadeOut}`;
}

function overlay({ leftPx, topPx, time }: TimedLayer): string {
  if (time === undefined) return `overlay=x=${leftPx}:y=${topPx}:format=yuv420:eof_action=repeat`;
  const rise = `${risePx}*pow(max(0,1-(n-${time.fromFrame})/${riseFrames}),3)`;
  return `overlay=x=${leftPx}:y='${topPx}+${rise}':format=yuv420:eof_action=pass`;
}
