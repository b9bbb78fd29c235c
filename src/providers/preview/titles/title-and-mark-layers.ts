import type { Layer } from '../layers-filter-graph.ts';
import { renderDrawing, svgGradient, colorOnScale, svgRectangle } from '../scenes/drawing.ts';
import type { SceneRequest } from '../scenes/random-scene-drawings.ts';
import { drawText, drawFittedText } from './render-text-picture.ts';

/** Longer texts do not fit into the lower third in readable letters. */
const maxCharacters = 130;

/** Everything but what Inter has: Latin, Greek and Cyrillic letters, digits and their punctuation. */
const notInFont =
  /[^\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\x20-\x7e\u00a1-\u00ac\u00ae-\u00ff\u2010-\u2027€]+/gu;

/**
 * Returns the prompt as one line that the font can draw, cut at a word. Words in other scripts become an ellipsis. The title is the
 * model's name where the prompt has no letters, or loses more than half of them.
 */
export function titleOf(prompt: string, model: string): string {
  const text = prompt
    .slice(0, 4 * maxCharacters)
    .normalize('NFKC')
    .replaceAll(/\s+/gu, ' ');
  const shown = text
    .replaceAll(notInFont, (run) => (countLetters(run) > 0 ? '…' : ''))
    .replaceAll(/ +/g, ' ')
    .trim();
  if (countLetters(shown) === 0 || 2 * countLetters(shown) < countLetters(text)) return model;
  if (shown.length <= maxCharacters) return shown;
  const cut = shown.slice(0, maxCharacters);
  const lastSpace = cut.lastIndexOf(' ');
  return `${cut.slice(0, lastSpace > maxCharacters / 2 ? lastSpace : undefined).replace(/[\p{P}\s]+$/u, '')}…`;
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

export async function titleAndMarkLayers(
  prompt: string,
  model: string,
  request: SceneRequest,
): Promise<readonly Layer[]> {
  const layers = await Promise.all([foot(request), title(request, titleOf(prompt, model)), mark(request)]);
  return layers.flat();
}

/** The sizes of titles, in parts of the frame's shorter side. */
const sizes = [0.1, 0.09, 0.08, 0.071, 0.063, 0.056, 0.05, 0.044, 0.039, 0.035];
const gapPx = 22;

/** Draws the text under a short bar. Both rise from below, and stand still once they are opaque. */
async function title(request: SceneRequest, text: string): Promise<Layer[]> {
  const { frame, filmFrames, palette } = request;
  const marginPx = marginOf(request);
  const box = { widthPx: Math.min(frame.widthPx - 2 * marginPx, 1040), heightPx: Math.round(0.24 * frame.heightPx) };
  const sizesPx = sizes.map((part) => Math.round(part * Math.min(frame.widthPx, frame.heightPx)));
  const words = await drawFittedText(text, { weight: 'Bold', trackingEm: -0.018 }, sizesPx, box);
  const bar = await renderDrawing({
    widthPx: 64,
    heightPx: 6,
    body: svgRectangle(0, 0, 64, 6, palette.glow),
    x: '0',
    y: '0',
  });
  const fromFrame = 7;
  const time = { fromFrame, frames: filmFrames - 2 * fromFrame, fadeInFrames: 11, fadeOutFrames: 8 };
  const rise = `26*pow(max(0,1-(n-${fromFrame})/15),3)`;
  const wordsY = frame.heightPx - marginPx - words.heightPx;
  return [
    { ...words, x: `${marginPx}`, y: `${wordsY}+${rise}`, time },
    { ...bar, x: `${marginPx}`, y: `${wordsY - gapPx - bar.heightPx}+${rise}`, time },
  ];
}

function marginOf({ frame }: SceneRequest): number {
  return Math.round(0.075 * Math.min(frame.widthPx, frame.heightPx));
}

/** White letters need a dark, plain background. */
function foot({ frame, palette }: SceneRequest): Promise<Layer> {
  const dark = colorOnScale(0.6, palette.deep, '#000000');
  const heightPx = Math.round(0.56 * frame.heightPx);
  const fill = svgGradient('linear', 'foot', `0 ${dark} 0`, `0.35 ${dark} 0.32`, `0.7 ${dark} 0.7`, `1 ${dark} 0.85`);
  const body = fill + svgRectangle(0, 0, frame.widthPx, heightPx, 'url(#foot)');
  return renderDrawing({ ...frame, heightPx, body, x: '0', y: `${frame.heightPx - heightPx}` });
}

/** Draws the words on a pill in the upper right corner, visible in every frame, so that the film is not mistaken for a model's. */
async function mark(request: SceneRequest): Promise<Layer[]> {
  const { frame } = request;
  const sizePx = Math.round(2 + 0.022 * Math.min(frame.widthPx, frame.heightPx));
  const words = await drawText('PREVIEW · NOT MADE BY AN AI MODEL', { weight: 'Medium', trackingEm: 0.08 }, sizePx);
  const [widthPx, heightPx] = [words.widthPx + 2 * sizePx, words.heightPx + sizePx + 4];
  const body = svgRectangle(0, 0, widthPx, heightPx, '#00000070', heightPx / 2);
  const y = Math.round(0.8 * marginOf(request));
  const x = frame.widthPx - y - widthPx;
  const pill = await renderDrawing({ widthPx, heightPx, body, x: `${x}`, y: `${y}` });
  return [pill, { ...words, x: `${x + sizePx}`, y: `${y + Math.round(sizePx / 2) + 2}` }];
}
