import { z } from 'zod';

// A video or a still that shows customers what a model makes, as files beside the catalogue.

/** The content types of samples, by the end of the file's name. */
const videoTypes: Readonly<Record<string, string>> = { mp4: 'video/mp4', webm: 'video/webm' };
const posterTypes: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
};

function fileOf(types: Readonly<Record<string, string>>) {
  const endings = Object.keys(types);
  return z
    .string()
    .min(1)
    .max(500)
    .refine((name) => endings.includes(endingOf(name)), {
      error: `must be the path of a file that ends in .${endings.join(', .')}`,
    });
}

export const sampleSchema = z
  .strictObject({ video: fileOf(videoTypes).optional(), poster: fileOf(posterTypes).optional() })
  .refine(({ video, poster }) => (video ?? poster) !== undefined, { error: 'must have a video or a poster' })
  .meta({ description: 'Files that show what the model makes; their paths start at the folder of this file.' });

/** Absolute paths. */
export type ModelSample = { readonly video?: string | undefined; readonly poster?: string | undefined };

/** Returns the absolute path of a file beside the catalogue, and why it cannot be read. */
export type LocateFile = (name: string) => { readonly path: string; readonly problem?: string | undefined };

const parts = ['video', 'poster'] as const;
type Unreadable = { readonly file: (typeof parts)[number]; readonly message: string };

export function locateSample(declared: z.output<typeof sampleSchema> | undefined, locate: LocateFile) {
  if (declared === undefined) return { sample: undefined, problems: [] };
  const found = parts.flatMap((file) => {
    const name = declared[file];
    return name === undefined ? [] : [{ file, ...locate(name) }];
  });
  const sample: ModelSample = Object.fromEntries(found.map(({ file, path }) => [file, path]));
  const problems = found.flatMap(({ file, problem }): readonly Unreadable[] =>
    problem === undefined ? [] : [{ file, message: problem }],
  );
  return { sample, problems };
}

export function sampleContentType(name: string): string | undefined {
  return { ...videoTypes, ...posterTypes }[endingOf(name)];
}

function endingOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase();
}
