import { readFileSync } from 'node:fs';

// Recipes of the documentation: whole catalogues, some followed by a command that uses them. A page has parts of catalogues, too.

export type DocumentedRecipe = { readonly text: string; readonly command: string | undefined };

export function documentedRecipes(page: string): readonly DocumentedRecipe[] {
  const found = readFileSync(page, 'utf8').matchAll(
    /^```yaml\n(providers:\n.*?)^```\n(?:\n```sh\n(videogen generate .*?)\n```)?/gms,
  );
  return [...found].map(([, text = '', command]) => ({ text, command }));
}

/** The whole programs of a page: those that write a video, with its name. */
export function documentedExamples(page: string, language: 'js' | 'python') {
  const blocks = readFileSync(page, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].flatMap(([, text = '']) => {
    const [, file] = /['"]([\w-]+\.mp4)['"]/.exec(text) ?? [];
    return file === undefined ? [] : [{ text, file }];
  });
}

/** The arguments of a documented `videogen …`, as a shell reads them. */
export function argumentsOf(command: string): readonly string[] {
  const words = [...command.matchAll(/'[^']*'|(?:[^\s']|'[^']*')+/g)].map(([word]) => word.replaceAll("'", ''));
  return words.slice(1);
}
