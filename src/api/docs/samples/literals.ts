type Syntax = {
  readonly indent: string;
  readonly words: Readonly<Record<string, string>>;
  readonly text: (value: string) => string;
  readonly key: (name: string) => string;
};

const longestLine = 60;

/** A value as JavaScript that a formatter would leave as it is. */
export function javaScriptLiteral(value: unknown, depth = 0): string {
  return literal(value, depth, {
    indent: '  ',
    words: {},
    text: (text) =>
      text.includes("'") ? JSON.stringify(text) : `'${text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}'`,
    key: (name) => (/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`),
  });
}

export function pythonLiteral(value: unknown, depth = 0): string {
  return literal(value, depth, {
    indent: '    ',
    words: { true: 'True', false: 'False', null: 'None' },
    // Python reads the text of JSON.
    text: (text) => JSON.stringify(text),
    key: (name) => JSON.stringify(name),
  });
}

function literal(value: unknown, depth: number, syntax: Syntax): string {
  if (typeof value === 'string') return syntax.text(value);
  if (typeof value !== 'object' || value === null) return syntax.words[String(value)] ?? String(value);
  const inner = (item: unknown) => literal(item, depth + 1, syntax);
  if (Array.isArray(value)) return list('[', value.map(inner), ']', depth, syntax.indent);
  const entries = Object.entries(value).map(([name, item]) => `${syntax.key(name)}: ${inner(item)}`);
  const isSpaced = syntax.indent.length === 2 && entries.length > 0;
  return isSpaced ? list('{ ', entries, ' }', depth, syntax.indent) : list('{', entries, '}', depth, syntax.indent);
}

function list(open: string, items: readonly string[], close: string, depth: number, indent: string): string {
  const line = `${open}${items.join(', ')}${close}`;
  if (line.length <= longestLine && !line.includes('\n')) return line;
  const lines = items.map((item) => `${indent.repeat(depth + 1)}${item},\n`).join('');
  return `${open.trim()}\n${lines}${indent.repeat(depth)}${close.trim()}`;
}
