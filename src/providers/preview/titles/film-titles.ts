import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { drawableText } from './drawable-text.ts';
import { framesPerSecond, type Film, type FilmShape } from '../film.ts';
import type { TimedLayer } from './layer-graph.ts';
import { previewMark } from './preview-mark.ts';
import { rawInput } from '../raw-input.ts';
import { titleCards, type TitleCard } from './title-cards.ts';
import { titleFont } from './title-font.ts';
import { titleLayer } from './title-layer.ts';

/** How much longer than needed a title may stay: over light as good as always, pictures also want to be seen alone. */
const longestStretch = { onLight: 6, onPictures: 1.8 };

/** What the film says, and when. */
export function filmCards(film: Film, filmFrames: number): TitleCard[] {
  const text = drawableText(titleFont('700Bold'), film.title);
  return titleCards(text, {
    filmFrames,
    framesPerSecond,
    longestStretch: film.images.length > 0 ? longestStretch.onPictures : longestStretch.onLight,
  });
}

/** The titles and the mark, drawn and written to the work folder, with the inputs of ffmpeg that read them. */
export async function filmTitles(film: Film, { frame, cards }: FilmShape) {
  const onPictures = film.images.length > 0;
  const titles = cards.map(({ text: words, ...time }): TimedLayer => ({
    ...titleLayer(words, frame, onPictures),
    time,
  }));
  const layers = [...titles, previewMark(frame)];
  const inputs: string[][] = [];
  for (const [i, layer] of layers.entries()) {
    await writeFile(join(film.workFolder, `layer-${i}.rgba`), layer.rgba);
    inputs.push(rawInput('rgba', layer, `layer-${i}.rgba`));
  }
  return { layers, inputs };
}
