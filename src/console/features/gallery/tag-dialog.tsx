import { useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useRead } from '../../api/queries.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Plus, X } from '../../ui/icons.ts';
import { galleryText } from './gallery-text.ts';

const maxSuggestions = 8;

/** Adds tags to videos and removes those that some of them have. */
export function TagDialog({
  videos,
  onClose,
}: {
  readonly videos: readonly GalleryVideo[];
  readonly onClose: () => void;
}) {
  const [given] = useState(() => [...new Set(videos.flatMap(({ tags }) => tags))].toSorted());
  const [shown, setShown] = useState(given);
  const [text, setText] = useState('');
  const known = useRead('/api/v1/gallery/tags', {}).data?.tags ?? [];
  const add = (tag: string) => {
    setText('');
    const plain = tag.trim().toLowerCase();
    if (plain !== '') setShown((all) => (all.includes(plain) ? all : [...all, plain]));
  };
  const word = text.trim().toLowerCase();
  const suggestions = known.filter((tag) => !shown.includes(tag) && tag.includes(word)).slice(0, maxSuggestions);
  // A tag that was typed and not confirmed with Enter counts, too.
  const chosen = word === '' || shown.includes(word) ? shown : [...shown, word];
  return (
    <ActionDialog
      path="/api/v1/gallery/label"
      title={galleryText.tagTitle(videos.length)}
      action={galleryText.saveTags}
      changes={['/api/v1/gallery/videos', '/api/v1/gallery/tags']}
      body={() => ({
        taskIds: videos.map(({ taskId }) => taskId),
        // A tag that only some of several videos have stays with those.
        addTags: chosen.filter((tag) => videos.length === 1 || !given.includes(tag)),
        removeTags: given.filter((tag) => !chosen.includes(tag)),
      })}
      done={galleryText.tagsSaved}
      onClose={onClose}
    >
      <TextField
        label={galleryText.newTag}
        name="addTags"
        hint={galleryText.newTagHint}
        maxLength={40}
        autocomplete="off"
        value={text}
        onValue={setText}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || word === '') return;
          event.preventDefault();
          add(text);
        }}
      />
      {suggestions.length > 0 && (
        <div class="tags" role="group" aria-label={galleryText.suggestions}>
          {suggestions.map((tag) => (
            <button key={tag} type="button" class="badge" aria-label={galleryText.addTag(tag)} onClick={() => add(tag)}>
              <Plus size={12} aria-hidden="true" /> {tag}
            </button>
          ))}
        </div>
      )}
      <div class="tags" role="group" aria-label={galleryText.tags}>
        {shown.length === 0 && <span class="faint">{galleryText.noTags}</span>}
        {shown.map((tag) => (
          <button
            key={tag}
            type="button"
            class="badge live"
            aria-label={galleryText.removeTag(tag)}
            onClick={() => setShown((all) => all.filter((one) => one !== tag))}
          >
            {tag} <X size={12} aria-hidden="true" />
          </button>
        ))}
      </div>
    </ActionDialog>
  );
}
