import type { TaskRecord } from '../api/contract.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { type Fact, Facts } from '../ui/page.tsx';
import { fieldWord, valueWord } from '../words.ts';
import { isObject, textsOf, type Values } from './input-values.ts';
import { MediaThumbnail, previewOf } from './media-thumbnail.tsx';

/** A request: its prompt, every other field of its input, and all of it as JSON. */
export function RequestFacts({ param }: Pick<TaskRecord, 'param'>) {
  const { prompt, ...input } = param.input;
  return (
    <div class="stack">
      <p dir="auto" class="whole-prompt">
        {prompt}
      </p>
      <Facts facts={inputFacts(input)} />
      <details class="quiet">
        <summary>As JSON</summary>
        <div class="body">
          <CodeBlock wraps samples={[{ title: 'param', text: JSON.stringify(param, undefined, 2) }]} />
        </div>
      </details>
    </div>
  );
}

/** Derived from the record, so that a field that is newer than this code is shown, too. */
function inputFacts(input: Values): readonly Fact[] {
  return Object.entries(input).flatMap(([name, value]): readonly Fact[] => {
    if (isObject(value)) return inputFacts(value);
    const urls = textsOf(value).filter((text) => /^https?:/i.test(text));
    if (urls.length > 0) return [[fieldWord(name), <MediaLinks media={mediaOf(name)} urls={urls} />]];
    if (Array.isArray(value)) return [];
    return [[fieldWord(name), <bdi>{valueWord(name, value)}</bdi>]];
  });
}

/** The names of the vocabulary begin with what a field holds, unless these are images. */
function mediaOf(name: string): string {
  return /^(?:video|audio)/.exec(name)?.[0] ?? 'image';
}

function MediaLinks({ media, urls }: { readonly media: string; readonly urls: readonly string[] }) {
  return (
    <ul class="chosen-media">
      {urls.map((url, index) => {
        const [name] = url.split('?');
        const href = previewOf(url) ?? (url.includes('/media/uploads/') ? undefined : url);
        return (
          // The same file may be given twice.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${index} ${url}`}>
            <MediaThumbnail url={url} media={media} />
            {href === undefined ? (
              <bdi class="truncate">{name}</bdi>
            ) : (
              <a class="truncate" href={href} target="_blank" rel="noreferrer">
                {name}
              </a>
            )}
          </li>
        );
      })}
    </ul>
  );
}
