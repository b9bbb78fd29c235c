import type { AccentShades } from './accent.ts';
import type { Logo } from './logo.ts';

/** The service as its customers see it. Addresses are complete: `https://…` or `mailto:…`. */
export type Brand = {
  readonly name: string;
  /** Undefined for our own logo. */
  readonly logo: Logo | undefined;
  /** Undefined for our own colors. */
  readonly accent: AccentShades | undefined;
  readonly support: string | undefined;
  readonly terms: string | undefined;
  readonly privacy: string | undefined;
  /** The page that sells credits if this service does not. */
  readonly buyCredits: string | undefined;
};

export const productName = 'Videogen';

/** Under another name the documents for operators are not served, and those for customers do not mention ours. */
export function isWhiteLabel({ name }: Pick<Brand, 'name'>): boolean {
  return name !== productName;
}

/** The name as a token of ASCII, for headers and for the configuration of programs. */
export function asciiBrandName(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/[^\w\s-]/gu, '');
  return ascii.trim().replaceAll(/[\s_-]+/g, '-') || 'video-api';
}

/** The sender in mails. Customers of a service without a name of its own know its address. */
export function mailSignatureOf({ name, support }: Brand, publicUrl: string) {
  return { name: isWhiteLabel({ name }) ? name : new URL(publicUrl).hostname, publicUrl, support };
}
