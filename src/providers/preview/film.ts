import type { FrameSize } from '../../domain/frame-size.ts';
import type { TaskInput } from '../../domain/task.ts';
import type { ReferenceImage } from '../provider.ts';
import type { TitleCard } from './titles/title-cards.ts';

/** What a film is made from. */
export type Film = {
  readonly model: string;
  readonly input: TaskInput;
  /** What of the prompt is to be shown. */
  readonly title: string;
  readonly images: readonly ReferenceImage[];
  readonly workFolder: string;
};

/** What follows from it before anything is drawn. */
export type FilmShape = {
  readonly frame: FrameSize;
  readonly filmFrames: number;
  readonly seed: string;
  readonly cards: readonly TitleCard[];
};

export const framesPerSecond = 24;
