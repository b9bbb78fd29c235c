import { Fragment } from 'preact';
import { Dialog } from '../../ui/forms/dialog.tsx';
import { keyboardText } from './keyboard-text.ts';
import type { NavLink } from '../nav.ts';

type ListProps = {
  /** The pages that `g` and a letter lead to. */
  readonly pages: readonly NavLink[];
  readonly onClose: () => void;
};

const words = keyboardText.shortcuts;
const everywhere: readonly (readonly [keys: string, effect: string])[] = [
  ['Ctrl k', words.palette],
  ['/', words.search],
  ['Ctrl Enter', words.generate],
  ['Space ← → m', words.playback],
];

export function ShortcutList({ pages, onClose }: ListProps) {
  const toPages = pages.flatMap(({ key, title }) => (key === undefined ? [] : [[`g ${key}`, title] as const]));
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div class="body">
        <dl class="facts">
          {[...toPages, ...everywhere].map(([keys, effect]) => (
            <div key={effect}>
              <dt>
                {keys.split(' ').map((key) => (
                  <Fragment key={key}>
                    <kbd>{key}</kbd>{' '}
                  </Fragment>
                ))}
              </dt>
              <dd>{effect}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Dialog>
  );
}
