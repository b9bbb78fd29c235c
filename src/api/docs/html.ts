/** Markup in which all text is escaped. */
export type Html = { readonly html: string };

type Value = Html | string | number | false | undefined | readonly Value[];

/** Escapes all text that is not markup; omits `false` and undefined. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.map((part, index) => part + shown(values[index])).join('') };
}

/** Markup that a library has made from our own documents. */
export function trustedHtml(markup: string): Html {
  return { html: markup };
}

function shown(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value));
  return 'html' in value ? value.html : value.map(shown).join('');
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
