/** A stretch of one shot: pictures `fromShotFrame` and following, `frames` of them. */
export type ShotPart = { readonly shot: number; readonly fromShotFrame: number; readonly frames: number };

/** The film in order: a shot alone, or one shot fading into the next. Both parts of a fade have the same length. */
export type FilmPart = { readonly below: ShotPart; readonly above?: ShotPart };

export type ShotPlan = {
  readonly parts: readonly FilmPart[];
  /** How many frames each shot is to be seen for, its fades included. */
  readonly shotFrames: readonly number[];
};

/** Half a second, or a third of a shot where shots are short. */
const longestFadeFrames = 12;

/** Divides the film evenly between the shots; fades lie around the borders. Shots: 1 to 9, at least 4 frames each. */
export function shotPlan(shots: number, filmFrames: number): ShotPlan {
  const fadeFrames = Math.min(longestFadeFrames, Math.floor(filmFrames / shots / 3));
  const fadeStart = (shot: number) => Math.round((shot * filmFrames) / shots) - Math.floor(fadeFrames / 2);
  const starts = Array.from({ length: shots }, (_, shot) => (shot === 0 ? 0 : fadeStart(shot)));
  const ends = Array.from({ length: shots }, (_, shot) =>
    shot === shots - 1 ? filmFrames : fadeStart(shot + 1) + fadeFrames,
  );
  const part = (shot: number, from: number, to: number) => {
    return { shot, fromShotFrame: from - (starts[shot] ?? 0), frames: to - from };
  };
  const parts = starts.flatMap((start, shot): FilmPart[] => {
    const aloneFrom = shot === 0 ? 0 : start + fadeFrames;
    const aloneTo = shot === shots - 1 ? filmFrames : fadeStart(shot + 1);
    const alone = { below: part(shot, aloneFrom, aloneTo) };
    if (shot === 0) return [alone];
    return [{ below: part(shot - 1, start, start + fadeFrames), above: part(shot, start, start + fadeFrames) }, alone];
  });
  return { parts, shotFrames: starts.map((start, shot) => (ends[shot] ?? filmFrames) - start) };
}
