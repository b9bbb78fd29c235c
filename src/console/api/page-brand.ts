/** The server writes it into the page. Addresses are complete. */
type Brand = {
  readonly name: string;
  /** The variable of the environment that holds a key, in samples. */
  readonly keyVariable: string;
  readonly logo?: string;
  readonly support?: string;
  readonly terms?: string;
  readonly privacy?: string;
  readonly buyCredits?: string;
};

export const brand = readBrand();

/** The title of the document for a page of this title. */
export function titleOf(page: string): string {
  return `${page} · ${brand.name}`;
}

function readBrand(): Brand {
  const { content = '{}' } = document.querySelector<HTMLMetaElement>('meta[name="brand"]') ?? {};
  // Our own server wrote it.
  return JSON.parse(content) as Brand;
}
