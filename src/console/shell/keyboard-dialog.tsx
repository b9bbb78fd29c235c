import { Fragment } from 'preact';
import { accountPages, type PageDeclaration } from '../pages.ts';
import { Dialog, DialogBody } from '../ui/dialog.tsx';
import { Palette } from './palette.tsx';
import { shellText } from './shell-text.ts';

type DialogProps = { readonly shown: 'list' | 'palette'; readonly onClose: () => void };

/** The dialogs that shortcuts open. */
export function KeyboardDialog({ shown, onClose }: DialogProps) {
  return shown === 'palette' ? <Palette onClose={onClose} /> : <ShortcutList onClose={onClose} />;
}

const words = shellText.shortcuts;
const shortcuts: readonly (readonly [keys: string, effect: string])[] = [
  ...Object.values<PageDeclaration>(accountPages).flatMap(({ key, title }) =>
    key === undefined ? [] : [[`g ${key}`, title] as const],
  ),
  ['Ctrl k', words.palette],
  ['/', words.search],
  ['Ctrl Enter', words.generate],
  ['Space ← → m', words.playback],
];

function ShortcutList({ onClose }: Omit<DialogProps, 'shown'>) {
  return (
    <Dialog title={words.title} onClose={onClose}>
      <DialogBody>
        <dl class="facts">
          {shortcuts.map(([keys, effect]) => (
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
      </DialogBody>
    </Dialog>
  );
}
