type PageQuery = { readonly cursor?: string | undefined; readonly limit?: number | undefined };

/** The largest page of the service. */
const maxLimit = 100;

/** Yields the items of a list, from the first page or the cursor of `query` on. Reads a page only when it is needed. */
export async function* itemsOf<Page extends { readonly nextCursor: string | null }, Item>(
  { cursor: first, limit = maxLimit }: PageQuery,
  readPage: (query: PageQuery) => Promise<Page>,
  itemsIn: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  for (let cursor: string | null | undefined = first; cursor !== null;) {
    const page: Page = await readPage({ cursor, limit });
    yield* itemsIn(page);
    cursor = page.nextCursor;
  }
}
