import { z } from 'zod';
import type { JsonObject } from '../../platform/text/json.ts';

// The two shapes of a moderation hook: its requests, and the meaning of its answers.

export type ModeratedContent = { readonly prompt: string; readonly imageUrls: readonly string[] };

type HookShape = {
  readonly requests: (
    content: ModeratedContent,
    model: { readonly ours: string; readonly hook: string },
  ) => readonly JsonObject[];
  /** Returns the category of a refusal, or undefined for content that is allowed. Throws for any other answer. */
  readonly refusalIn: (answer: unknown) => string | undefined;
};

const openaiAnswer = z.object({
  results: z
    .array(
      z.object({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean().nullable()).catch({}),
        category_scores: z.record(z.string(), z.number().nullable()).catch({}),
      }),
    )
    .min(1),
});

/** A request to OpenAI may hold one image, and the text once. Servers without images read `input` as text. */
const openai: HookShape = {
  requests: ({ prompt, imageUrls }, { hook: model }) => {
    if (imageUrls.length === 0) return [{ model, input: prompt }];
    return imageUrls.map((url, index) => {
      const image = { type: 'image_url', image_url: { url } };
      return { model, input: index === 0 ? [{ type: 'text', text: prompt }, image] : [image] };
    });
  },
  refusalIn: (answer) => {
    const flagged = openaiAnswer.parse(answer).results.filter((result) => result.flagged);
    if (flagged.length === 0) return undefined;
    const named = flagged.flatMap(({ categories, category_scores: scores }) =>
      Object.entries(categories)
        .filter(([, isFlagged]) => isFlagged === true)
        .map(([name]) => ({ name, score: scores[name] ?? 0 })),
    );
    const [worst] = named.toSorted((a, b) => b.score - a.score);
    return categoryFrom(worst?.name);
  },
};

const plainAnswer = z.object({ allow: z.boolean(), reason: z.string().nullish().catch(undefined) });

const plain: HookShape = {
  requests: ({ prompt, imageUrls }, { ours: model }) => [{ model, prompt, imageUrls: [...imageUrls] }],
  refusalIn: (answer) => {
    const { allow, reason } = plainAnswer.parse(answer);
    return allow ? undefined : categoryFrom(reason);
  },
};

export const hookShapes = { openai, plain } as const satisfies Record<string, HookShape>;

/** A sentence could repeat the prompt, which is never logged, so only a name is a category. */
const categoryName = /^[A-Za-z][\w/.-]{0,63}$/;
const unnamedCategory = 'unspecified';

function categoryFrom(text: string | null | undefined): string {
  const name = text?.trim() ?? '';
  return categoryName.test(name) ? name : unnamedCategory;
}
