import { useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Plus, X } from '../../ui/controls/icons.ts';
import { galleryText } from './gallery-text.ts';

const maxSuggestions = 8;

type TagProps = {
  readonly videos: readonly GalleryVideo[];
  readonly onTagged?: (tags: readonly string[]) => void;
  readonly onClose: () => void;
};

/** Adds tags to videos and removes those that some of them have. */
export function TagDialog({ videos, onTagged, onClose }: TagProps) {
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
      onDone={() => onTagged?.(chosen)}
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
          // Enter also confirms a word of an input method.
          if (event.key !== 'Enter' || event.isComposing || word === '') return;
          event.preventDefault();
          add(text);
        }}
      />
      {suggestions.length > 0 && (
        <TagButtons label={galleryText.suggestions} tags={suggestions} nameOf={galleryText.addTag} onTag={add} />
      )}
      <TagButtons
        label={galleryText.tags}
        tags={shown}
        isChosen
        nameOf={galleryText.removeTag}
        onTag={(tag) => setShown((all) => all.filter((one) => one !== tag))}
      />
    </ActionDialog>
  );
}

type ButtonsProps = {
  readonly label: string;
  readonly tags: readonly string[];
  readonly isChosen?: boolean;
  readonly nameOf: (tag: string) => string;
  readonly onTag: (tag: string) => void;
};

/** Tags to add or, if they are chosen, to remove. */
function TagButtons({ label, tags, isChosen = false, nameOf, onTag }: ButtonsProps) {
  return (
    <div class="tags" role="group" aria-label={label}>
      {tags.length === 0 && <span class="faint">{galleryText.noTags}</span>}
      {tags.map((tag) => (
        <button
          key={tag}
          type="button"
          class={isChosen ? 'badge live' : 'badge'}
          aria-label={nameOf(tag)}
          onClick={() => onTag(tag)}
        >
          {!isChosen && <Plus size={12} aria-hidden="true" />} {tag} {isChosen && <X size={12} aria-hidden="true" />}
        </button>
      ))}
    </div>
  );
}
