const key = 'videogen-docs-language';
const languages: readonly string[] = ['sh', 'ts', 'python'];

/** The language of samples that the reader chose last. */
export function storedLanguage(): string {
  const stored = localStorage.getItem(key) ?? '';
  return languages.includes(stored) ? stored : 'sh';
}

export function storeLanguage(language: string): void {
  localStorage.setItem(key, language);
}
