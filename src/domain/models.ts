/** The model catalogue: which models exist, what a second costs from when on, who generates, and for how long at most. */

export type Rate = {
  /** Whole credits for one second of video. */
  readonly creditsPerSecond: number;
  /** Unix milliseconds from which the rate counts, for tasks created at or after that instant. */
  readonly fromMs: number;
};

export type Model = {
  readonly model: string;
  readonly title: string;
  readonly rates: readonly Rate[];
  /** Providers in the order in which they are tried. */
  readonly providers: readonly string[];
  /** How long generation may take from its first start. */
  readonly deadlineMs: number;
};

export type ModelCatalogue = ReadonlyMap<string, Model>;

const thirtyMinutesMs = 30 * 60_000;

/** The catalogue of the specification: 33 credits a second for the fast model (section 8.3), 41 for the standard one (design, section 3). */
export const defaultModels: readonly Model[] = [
  {
    model: 'videogen-2.0',
    title: 'Standard video generation',
    rates: [{ creditsPerSecond: 41, fromMs: 0 }],
    providers: ['preview'],
    deadlineMs: thirtyMinutesMs,
  },
  {
    model: 'videogen-2.0-fast',
    title: 'Faster video generation',
    rates: [{ creditsPerSecond: 33, fromMs: 0 }],
    providers: ['preview'],
    deadlineMs: thirtyMinutesMs,
  },
];

export function modelCatalogue(models: readonly Model[]): ModelCatalogue {
  return new Map(models.map((model) => [model.model, model]));
}

/** The rate in force at an instant: the latest one that has begun. Throws when the catalogue holds none, which its loader refuses. */
export function rateAt(model: Model, atMs: number): number {
  const begun = model.rates.filter((rate) => rate.fromMs <= atMs).toSorted((a, b) => b.fromMs - a.fromMs);
  const [current] = begun;
  if (current === undefined) throw new Error(`model ${model.model} has no rate in force at ${atMs}`);
  return current.creditsPerSecond;
}

/** Credits for a video of so many whole seconds (spec 8.3); audio and reference images do not matter. */
export function chargeFor(model: Model, durationSeconds: number, atMs: number): number {
  return rateAt(model, atMs) * durationSeconds;
}
