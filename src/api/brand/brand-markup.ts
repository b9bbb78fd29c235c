import { createHash } from 'node:crypto';
import { escapeHtml, html, type Html } from '../docs/html.ts';
import { accentStyle } from '../../platform/brand/accent.ts';
import { type Brand, isWhiteLabel } from '../../platform/brand/brand.ts';

// Parts of pages that the server writes. Each page escapes the rest itself.

/** Returns the icon and the colors of the brand. A page includes them after its own style, which they override. */
export function brandHead(brand: Brand): Html {
  const style = styleAddress(brand);
  return html`<link rel="icon" href="${logoAddress(brand) ?? '/favicon.ico'}" />
    ${style !== undefined && html`<link rel="stylesheet" href="${style}" />`}`;
}

/**
 * The logo of the brand, or the default one, for an element of the size that the page sets for `.brand-mark`. The name stands beside it.
 */
export function brandLogoHtml(brand: Brand): Html {
  const logo = logoAddress(brand);
  if (logo !== undefined) return html`<img class="brand-mark" src="${logo}" alt="" />`;
  return html`<svg class="brand-mark" viewBox="0 0 26 26" aria-hidden="true">
    <rect width="26" height="26" rx="7" fill="var(--accent-fill)" />
    <path d="M10 7.6v10.8a.6.6 0 0 0 .92.5l8.3-5.4a.6.6 0 0 0 0-1L10.92 7.1a.6.6 0 0 0-.92.5Z" fill="#fff" />
    <rect x="5" y="7" width="2.2" height="12" rx="1.1" fill="#fff" opacity=".65" />
  </svg>`;
}

/** The facts that the console's code needs, as the content of an attribute. */
export function brandDataAttributeValue(brand: Brand): string {
  const { name, support, terms, privacy, buyCredits } = brand;
  // Our own clients read their key from this variable.
  const keyVariable = isWhiteLabel(brand) ? 'API_KEY' : 'VIDEOGEN_API_KEY';
  const known = { name, keyVariable, logo: logoAddress(brand), support, terms, privacy, buyCredits };
  return escapeHtml(JSON.stringify(known));
}

/** Replaces each `{{name}}` of a page; `brand…` are those of the brand. */
export function fillTemplate(template: string, brand: Brand, parts: Readonly<Record<string, string>> = {}): string {
  const known: Readonly<Record<string, string>> = {
    brand: brandDataAttributeValue(brand),
    brandName: escapeHtml(brand.name),
    brandHead: brandHead(brand).html,
    brandMark: brandLogoHtml(brand).html,
    ...parts,
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_match, name: string) => known[name] ?? '');
}

function logoAddress({ logo }: Brand): string | undefined {
  return logo && `/brand/logo?v=${logo.version}`;
}

function styleAddress({ accent }: Brand): string | undefined {
  if (accent === undefined) return undefined;
  const version = createHash('sha256').update(accentStyle(accent)).digest('hex').slice(0, 12);
  return `/brand/colors.css?v=${version}`;
}
