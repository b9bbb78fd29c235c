/** A piece of a file that a person reads. `index` is its offset in the file. */
export type Piece = {
  readonly kind: 'comment' | 'description' | 'message' | 'name' | 'summary';
  readonly text: string;
  readonly index: number;
};

const word = /[A-Za-z_$][\w$]*/y;
const quoted = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y;
const lineComments = /\/\/[^\n]*(?:\n[ \t]*\/\/[^\n]*)*/y;
const blockComment = /\/\*[\s\S]*?\*\//y;
const regularExpression = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const beforeExpression = /(?:[(,=:[!&|?{;>+]|\b(?:return|case|typeof|of|in))\s*$/;
const beforeSpecifier = /(?:\bfrom|\bimport|\bimport\(|\bimport\.meta\.resolve\()\s*$/;

/** The comments, literals and names of TypeScript. Import specifiers and regular expressions are left out. */
export function piecesOfTypeScript(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  // One entry per open template: the count of braces that are open inside its current expression.
  const templates: number[] = [];
  let at = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const take = (found: string, kind?: Piece['kind']) => {
    if (kind !== undefined) pieces.push(kind === 'comment' ? commentAt(found, at) : { kind, text: found, index: at });
    at += found.length;
  };
  const takeTemplate = () => {
    const chunk = match(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y) ?? '';
    take(chunk, kindOf(chunk));
    if (text[at] === '`') templates.pop();
    at += text[at] === '`' ? 1 : 2;
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    const before = text.slice(Math.max(0, at - 40), at);
    const depth = templates.at(-1);
    if (char === '/') {
      const comment = match(lineComments) ?? match(blockComment);
      if (comment !== undefined) take(comment, 'comment');
      else take((beforeExpression.test(before) ? match(regularExpression) : undefined) ?? char);
    } else if (char === '`') {
      at += 1;
      templates.push(0);
      takeTemplate();
    } else if (depth !== undefined && (char === '{' || char === '}')) {
      at += 1;
      if (char === '}' && depth === 0) takeTemplate();
      else templates[templates.length - 1] = depth + (char === '{' ? 1 : -1);
    } else if ((char === "'" && !/\w$/.test(before)) || char === '"') {
      const literal = match(quoted) ?? char;
      take(literal, beforeSpecifier.test(before) ? undefined : kindOf(literal, /\b(\w+): *\n? *$/.exec(before)?.[1]));
    } else {
      const name = match(word);
      const isOurs = name !== undefined && !/\bMath\.$/.test(before);
      take(name ?? match(/\d[\w.]*/y) ?? char, isOurs ? 'name' : undefined);
    }
  }
  return [...pieces, ...textsOfJsx(text)];
}

/** A literal without a space is a value, such as a state or a path; one with a space is read as a sentence. */
function kindOf(literal: string, field = ''): Piece['kind'] {
  if (!/\s/.test(literal.trim())) return 'name';
  return field === 'description' || field === 'summary' ? field : 'message';
}

/** Comment marks become spaces, so that offsets stay true and a sentence continues on the next line. */
function commentAt(comment: string, index: number): Piece {
  const text = comment.replaceAll(/^[ \t]*(?:\/\/|\/?\*+\/?|#+)|\*\/$/gm, (mark) => ' '.repeat(mark.length));
  return { kind: 'comment', text, index };
}

function textsOfJsx(text: string): readonly Piece[] {
  if (!text.includes('</')) return [];
  return [...text.matchAll(/>([^<>{}=;]*[a-z] [^<>{}=;]*)(?=[<{])/g)].map((found) => ({
    kind: 'message',
    text: found[1] ?? '',
    index: found.index + 1,
  }));
}

/** Prose of a document: everything but code, paths, link targets and HTML. Comments inside code blocks are prose. */
export function piecesOfMarkdown(text: string): readonly Piece[] {
  const blank = (found: string) => found.replaceAll(/[^\n]/g, ' ');
  const comments = [...text.matchAll(/^ *```[\s\S]*?^ *```$/gm)].flatMap((block) =>
    [...block[0].matchAll(/(?:^|\s)# [^\n]*/g)].map((found) => commentAt(found[0], block.index + found.index)),
  );
  const prose = text
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/`[^`]+`|\]\([^)]*\)|<[^>]+>|[\w-]+(?:\/[\w-]+)+/g, blank);
  return [{ kind: 'message', text: prose, index: 0 }, ...comments];
}

/** Comments after `#`, and the values of fields that people read. */
export function piecesOfConfiguration(text: string): readonly Piece[] {
  const comments = [...text.matchAll(/(?<=^|\s)# [^\n]*(?:\n[ \t]*# [^\n]*)*/g)].map((found) =>
    commentAt(found[0], found.index),
  );
  const values = [...text.matchAll(/\b(?:summary|description|title|message): ([^\n]+)/g)].map((found): Piece => ({
    kind: 'message',
    text: found[1] ?? '',
    index: found.index,
  }));
  return [...comments, ...values];
}

/** The texts of a JSON file that are sentences. Queries for metrics are none: their names belong to the code. */
export function piecesOfJson(text: string): readonly Piece[] {
  return piecesOfOpenApi(text.replaceAll(/"expr": "(?:[^"\\]|\\.)*"/g, (query) => ' '.repeat(query.length))).filter(
    ({ kind }) => kind !== 'name',
  );
}

/** Besides sentences, the keys and values that clients send and receive. */
export function piecesOfOpenApi(text: string): readonly Piece[] {
  return [...text.matchAll(/(?:"(\w+)": )?"((?:[^"\\]|\\.)*)"/g)].flatMap((found): readonly Piece[] => {
    const [, field, value = ''] = found;
    const literal = value.replaceAll(/\\n/g, '  ');
    const own: Piece = { kind: kindOf(literal, field), text: literal, index: found.index };
    return field === undefined ? [own] : [{ kind: 'name', text: field, index: found.index }, own];
  });
}
