import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';

/** Nothing from elsewhere, nothing inline but styles, which Swagger UI sets on its elements; calls only to this service. */
export const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
};

/** Answers with a page of assets/pages; each `{{name}}` in it gives way to the HTML of that name. */
export async function showPage(ctx: Context, page: string, html: Readonly<Record<string, string>>): Promise<void> {
  const template = await readFile(new URL(import.meta.resolve(`#assets/pages/${page}.html`)), 'utf8');
  ctx.set({ ...pageHeaders, 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-cache' });
  ctx.body = template.replaceAll(/\{\{(\w+)\}\}/g, (_place, name: string) => html[name] ?? '');
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
