import { CodeBlock } from '../../../ui/controls/code-block.tsx';
import { Notice } from '../../../ui/feedback/notice-and-error-box.tsx';
import { Card, type LabelAndValue, Facts } from '../../../ui/page-card-facts-and-tiles.tsx';
import { isObject, nonEmptyStringsOf, type InputValues } from '../../models/field-schema-helpers.ts';
import { fieldWord, valueWord } from '../../models/models-text.ts';
import { isUploadUrl } from '../../playground/media/upload-previews-and-expiry.ts';
import { MediaThumbnail, previewLinkOf } from '../reference-media-thumbnail.tsx';
import { tasksText } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';

/** A request: its prompt, every other field of its input, and all of it as JSON. */
export function RequestCard({ view: { task, contentDeleteTime } }: { readonly view: TaskView }) {
  const { prompt, ...input } = task.param.input;
  return (
    <Card title={tasksText.request}>
      {contentDeleteTime !== null ? (
        <Notice title={tasksText.deletedTitle} text={tasksText.deleted} />
      ) : (
        <div class="stack">
          <p dir="auto" class="whole-prompt">
            {prompt || tasksText.withoutPrompt}
          </p>
          <Facts facts={inputFacts(input)} />
          <details>
            <summary>{tasksText.asJson}</summary>
            <div class="body">
              <CodeBlock wraps samples={[{ title: 'param', text: JSON.stringify(task.param, undefined, 2) }]} />
            </div>
          </details>
        </div>
      )}
    </Card>
  );
}

/** Derived from the record, so that a field that is newer than this code appears, too. */
function inputFacts(input: InputValues): readonly LabelAndValue[] {
  return Object.entries(input).flatMap(([name, value]): readonly LabelAndValue[] => {
    if (isObject(value)) return inputFacts(value);
    const urls = nonEmptyStringsOf(value).filter((text) => /^https?:/i.test(text));
    if (urls.length > 0) return [[fieldWord(name), <MediaLinks media={mediaOf(name)} urls={urls} />]];
    if (Array.isArray(value)) return [];
    return [[fieldWord(name), <bdi>{valueWord(name, value)}</bdi>]];
  });
}

/** Names of fields begin with their kind of media, unless they hold images. */
function mediaOf(name: string): string {
  return /^(?:video|audio)/.exec(name)?.[0] ?? 'image';
}

function MediaLinks({ media, urls }: { readonly media: string; readonly urls: readonly string[] }) {
  return (
    <ul class="chosen-media">
      {urls.map((url, index) => {
        const [name] = url.split('?');
        const href = previewLinkOf(url) ?? (isUploadUrl(url) ? undefined : url);
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
