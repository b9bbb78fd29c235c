import type { Layer, Stretch } from '../layers.ts';
import { drawn, gradient, mix, rectangle } from '../scenes/drawing.ts';
import type { SceneRequest } from '../scenes/scenes.ts';
import { drawnText, fittedText } from './drawn-text.ts';
import { readableText } from './readable-text.ts';
import { titleCards, type TitleCard } from './title-cards.ts';

/** The sizes of titles, in parts of the frame's shorter side. */
const sizes = [0.1, 0.09, 0.08, 0.071, 0.063, 0.056, 0.05, 0.044, 0.039, 0.035];
const gapPx = 22;

/**
 * What is said of the text, one title after the other in the lower third, on a dark foot; and the mark that says what this film
 * is. A text of which nothing can be shown gives the name of the model.
 */
export async function titleLayers(prompt: string, model: string, request: SceneRequest): Promise<readonly Layer[]> {
  const { text, isWhole } = await readableText(prompt);
  const note = isWhole ? '' : 'Some characters are left out: no font here has them.';
  const cards = titleCards(text === '' ? model : text, request.filmFrames);
  const titles = await Promise.all(cards.map((card) => title(request, card, note)));
  return [await foot(request), ...titles.flat(), ...(await mark(request))];
}

/** The words under a short bar, above the note; they come up from below and are at rest when they are fully there. */
async function title(request: SceneRequest, { text, ...time }: TitleCard, note: string): Promise<Layer[]> {
  const { frame, palette } = request;
  const isRightToLeft = /^\P{L}*[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u.test(text);
  const marginPx = marginOf(request);
  const box = { widthPx: Math.min(frame.widthPx - 2 * marginPx, 1040), heightPx: Math.round(0.24 * frame.heightPx) };
  const below = note === '' ? [] : [await fittedText(note, { weight: 'Medium' }, [26, 22], box)];
  const left = { ...box, heightPx: below.reduce((px, { heightPx }) => px - heightPx - gapPx, box.heightPx) };
  const lettering = { weight: 'Bold', trackingEm: -0.018, align: isRightToLeft ? 'right' : 'left' } as const;
  const sizesPx = sizes.map((part) => Math.round(part * Math.min(frame.widthPx, frame.heightPx)));
  const words = await fittedText(text, lettering, sizesPx, left);
  const bar = await drawn({ widthPx: 64, heightPx: 6, body: rectangle(0, 0, 64, 6, palette.glow), x: '0', y: '0' });
  const seen: Stretch = { ...time, fadeInFrames: 11, fadeOutFrames: 8 };
  let y = frame.heightPx - marginPx + gapPx;
  return [...below, words, bar].map((part) => {
    y -= part.heightPx + gapPx;
    const x = isRightToLeft ? frame.widthPx - marginPx - part.widthPx : marginPx;
    return { ...part, x: `${x}`, y: `${y}+26*pow(max(0,1-(n-${time.fromFrame})/15),3)`, time: seen };
  });
}

function marginOf({ frame }: SceneRequest): number {
  return Math.round(0.075 * Math.min(frame.widthPx, frame.heightPx));
}

/** White letters need a quiet ground. */
function foot({ frame, palette }: SceneRequest): Promise<Layer> {
  const dark = mix(0.6, palette.deep, '#000000');
  const heightPx = Math.round(0.56 * frame.heightPx);
  const fill = gradient('linear', 'foot', `0 ${dark} 0`, `0.35 ${dark} 0.32`, `0.7 ${dark} 0.7`, `1 ${dark} 0.85`);
  const body = fill + rectangle(0, 0, frame.widthPx, heightPx, 'url(#foot)');
  return drawn({ ...frame, heightPx, body, x: '0', y: `${frame.heightPx - heightPx}` });
}

/** What the film must not be taken for: words on a pill in the upper right corner, always there. */
async function mark(request: SceneRequest): Promise<readonly Layer[]> {
  const { frame } = request;
  const sizePx = Math.round(2 + 0.022 * Math.min(frame.widthPx, frame.heightPx));
  const words = await drawnText('PREVIEW · NOT MADE BY AN AI MODEL', { weight: 'Medium', trackingEm: 0.08 }, sizePx);
  const [widthPx, heightPx] = [words.widthPx + 2 * sizePx, words.heightPx + sizePx + 4];
  const body = rectangle(0, 0, widthPx, heightPx, '#00000070', heightPx / 2);
  const y = Math.round(0.8 * marginOf(request));
  const x = frame.widthPx - y - widthPx;
  const pill = await drawn({ widthPx, heightPx, body, x: `${x}`, y: `${y}` });
  return [pill, { ...words, x: `${x + sizePx}`, y: `${y + Math.round(sizePx / 2) + 2}` }];
}
