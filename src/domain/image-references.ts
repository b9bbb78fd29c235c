/** How clients refer to reference images: `@Image1` or `[Image1]`, also with a space or in lower case; no part of an address or of a longer number. */
const references = /(?<!\w)@Image\s?([1-9])(?!\w)|\[Image\s?([1-9])\]/gi;

/**
 * The prompt with its references to images in a provider's spelling, in which `{n}` stands for the number: `@Image{n}`,
 * `[Image{n}]`. A reference to an image that was not sent stays as it is, for it may be plain text.
 */
export function spellImageReferences(prompt: string, imageCount: number, spelling: string): string {
  return prompt.replaceAll(references, (written: string, at?: string, bracketed?: string) => {
    const number = Number(at ?? bracketed);
    return number <= imageCount ? spelling.replaceAll('{n}', String(number)) : written;
  });
}
