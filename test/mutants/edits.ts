import * as is from 'typescript/unstable/ast/is';
import { type Expression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';

/** A change of one place; `kind` groups those of which as many should be drawn as of any other. */
export type Edit = {
  readonly kind: 'condition' | 'comparison' | 'wiring' | 'table' | 'response' | 'statement' | 'loop' | 'sql';
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

const comparisons: Readonly<Record<string, string>> = {
  '<': '<=',
  '>': '>=',
  '<=': '<',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
const reversedCalls: Readonly<Record<string, string>> = { min: 'max', max: 'min', some: 'every', every: 'some' };
/** Texts for people, and logs, are held by no test. */
const isProse =
  /^(?:summary|description|title|hint|help|text|label|example|examples|msg|message|name|fix|doc|describe)$/;
const isLogging = /^(?:await )?[\w.]*\blog(?:ger)?(?:\.\w+)?\(/;
const isSql = /\b(?:select|insert into|update|delete from|where)\b[^]*\b(?:from|values|set|where|and)\b/;

/** Lists every edit that this module makes in the file. */
export function editsOf(source: SourceFile): readonly Edit[] {
  const edits: Edit[] = [];
  const add = (kind: Edit['kind'], node: Range, text: string) => edits.push({ kind, ...rangeOf(node, source), text });
  const visit = (node: Node): void => {
    if (is.isImportDeclaration(node) || is.isTypeNode(node) || isProseProperty(node, source)) return;
    for (const edit of editNode(node, source)) add(...edit);
    node.forEachChild((child) => visit(child));
  };
  visit(source);
  return [...edits, ...sqlEdits(source)].filter(({ start, end, text }) => source.text.slice(start, end) !== text);
}

type Range = Node | { readonly start: number; readonly end: number };
type Made = [kind: Edit['kind'], range: Range, text: string];

function rangeOf(range: Range, source: SourceFile) {
  return 'start' in range ? range : { start: range.getStart(source), end: range.end };
}

function editNode(node: Node, source: SourceFile): readonly Made[] {
  const textOf = (part: Node) => part.getText(source);
  if (is.isBinaryExpression(node)) return binaryEdits(node.left, node.operatorToken, node.right, source);
  if (is.isIfStatement(node)) {
    const guard: Made[] = node.elseStatement === undefined ? [['condition', node, ';']] : [];
    return [...guard, ['condition', node.expression, `!(${textOf(node.expression)})`]];
  }
  if (is.isConditionalExpression(node)) return [['condition', node.condition, `!(${textOf(node.condition)})`]];
  if (is.isAwaitExpression(node) && is.isExpressionStatement(node.parent))
    return [['statement', node, `void ${textOf(node.expression)}`]];
  if (is.isExpressionStatement(node) && is.isBlock(node.parent))
    return isLogging.test(textOf(node)) ? [] : [['statement', node, ';']];
  if (is.isCallExpression(node)) return [...swaps(node.arguments, source), ...reversed(node.expression, source)];
  if (is.isArrayLiteralExpression(node)) return removals('table', node.elements, source);
  if (is.isCaseClause(node)) return node.statements.length > 0 ? [['table', node, '']] : [];
  if (is.isObjectLiteralExpression(node)) return objectEdits(node, source);
  if (is.isWhileStatement(node) || is.isForStatement(node) || is.isForOfStatement(node) || is.isDoStatement(node)) {
    const body = textOf(node.statement);
    return [
      ['loop', node.statement, is.isBlock(node.statement) ? `${body.slice(0, -1)} break; }` : `{ ${body} break; }`],
    ];
  }
  if (is.isNumericLiteral(node) && is.isBinaryExpression(node.parent))
    return [['comparison', node, String(Number(node.text.replaceAll('_', '')) + 1)]];
  return [];
}

function binaryEdits(left: Expression, operator: Node, right: Expression, source: SourceFile): readonly Made[] {
  const [one, other] = [left.getText(source), right.getText(source)];
  const { parent } = operator;
  if (operator.kind === SyntaxKind.AmpersandAmpersandToken || operator.kind === SyntaxKind.BarBarToken)
    return [one, other].map((text) => ['condition', parent, text]);
  if (operator.kind === SyntaxKind.QuestionQuestionToken) return [['condition', parent, other]];
  const compared = comparisons[operator.getText(source)];
  if (compared !== undefined) return [['comparison', operator, compared]];
  if (operator.kind === SyntaxKind.PlusToken && /^\d/.test(other)) return [['comparison', parent, one]];
  return [];
}

/** Swaps neighbors, of which the compiler accepts those of one type. */
function swaps(nodes: readonly Node[], source: SourceFile): readonly Made[] {
  return nodes.slice(1).flatMap((node, index): Made[] => {
    const before = nodes[index];
    if (before === undefined || isFunction(node) || isFunction(before)) return [];
    const text = `${node.getText(source)}, ${before.getText(source)}`;
    return [['wiring', { start: before.getStart(source), end: node.end }, text]];
  });
}

function isFunction(node: Node): boolean {
  return is.isArrowFunction(node) || is.isFunctionExpression(node);
}

function reversed(callee: Expression, source: SourceFile): readonly Made[] {
  if (!is.isPropertyAccessExpression(callee)) return [];
  const name = callee.name.getText(source);
  const text = Object.hasOwn(reversedCalls, name) ? reversedCalls[name] : undefined;
  return text === undefined ? [] : [['condition', callee.name, text]];
}

function removals(kind: Edit['kind'], nodes: readonly Node[], source: SourceFile): readonly Made[] {
  if (nodes.length < 2) return [];
  return nodes.map((node, index) => {
    const next = nodes[index + 1];
    const end = next === undefined ? node.end : next.getStart(source);
    return [kind, { start: node.getStart(source), end }, ''];
  });
}

function objectEdits(node: Node & { readonly properties: readonly Node[] }, source: SourceFile): readonly Made[] {
  const properties = node.properties.filter((one) => !isProseProperty(one, source));
  const isReturned = is.isReturnStatement(node.parent) || is.isParenthesizedExpression(node.parent);
  const isArgument = is.isCallExpression(node.parent);
  const kind = isReturned ? 'response' : isArgument ? 'wiring' : 'table';
  const removed = removals(kind, node.properties, source).filter((_edit, index) =>
    properties.includes(node.properties[index] ?? node),
  );
  return [...removed, ...(isReturned || isArgument ? valueSwaps(properties, source) : [])];
}

/** `{ from, to: until }` becomes `{ from: until, to: from }`. */
function valueSwaps(properties: readonly Node[], source: SourceFile): readonly Made[] {
  const named = properties.flatMap((node): { node: Node; name: Node; value: Node }[] => {
    if (is.isShorthandPropertyAssignment(node)) return [{ node, name: node.name, value: node.name }];
    return is.isPropertyAssignment(node) ? [{ node, name: node.name, value: node.initializer }] : [];
  });
  return named.slice(1).flatMap((other, index): Made[] => {
    const one = named[index];
    if (one === undefined || isFunction(one.value) || isFunction(other.value)) return [];
    const between = source.text.slice(one.node.end, other.node.getStart(source));
    if (between.trim() !== ',') return [];
    const text = [one, other].map(({ name }, position) => {
      return `${name.getText(source)}: ${(position === 0 ? other : one).value.getText(source)}`;
    });
    return [['wiring', { start: one.node.getStart(source), end: other.node.end }, text.join(', ')]];
  });
}

function isProseProperty(node: Node, source: SourceFile): boolean {
  return is.isPropertyAssignment(node) && isProse.test(node.name.getText(source));
}

/** Edits of the SQL in template literals: a line that begins with `and` removed, or one operator reversed. */
function sqlEdits(source: SourceFile): readonly Edit[] {
  const texts = source.text.matchAll(/`[^`]*`/g);
  return [...texts].flatMap(({ 0: sql, index: at }) => {
    if (!isSql.test(sql)) return [];
    const found = (pattern: RegExp, textFor: (match: string) => string) =>
      [...sql.matchAll(pattern)].map(({ 0: match, index }): Edit => {
        return { kind: 'sql', start: at + index, end: at + index + match.length, text: textFor(match) };
      });
    return [
      ...found(/\n *and [^\n`]*/g, (line) => (balance(line) === 0 ? '' : line)),
      ...found(
        / and (?:[\w.]+|\$\d+)(?:::\w+)? (?:=|<>|<|>|<=|>=|is null|is not null)(?: [\w.$:']+)?(?=[\n)` ])/g,
        () => '',
      ),
      ...found(/ (?:<>|=|<|>|<=|>=) /g, (operator) => ` ${sqlOperators[operator.trim()] ?? ''} `),
      ...found(/ is (?:not )?null\b/g, (test) => (test.includes('not') ? ' is null' : ' is not null')),
      ...found(/ desc\b/g, () => ''),
      ...found(/\b(?:least|greatest)\(/g, (call) => (call === 'least(' ? 'greatest(' : 'least(')),
    ];
  });
}

const sqlOperators: Readonly<Record<string, string>> = {
  '=': '<>',
  '<>': '=',
  '<': '<=',
  '>': '>=',
  '<=': '<',
  '>=': '>',
};

function balance(text: string): number {
  return text.split('(').length - text.split(')').length;
}
