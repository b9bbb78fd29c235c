import { accountLinks } from '../pages/account/links.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Palette } from './palette.tsx';

type DialogProps = { readonly shown: 'list' | 'palette'; readonly onClose: () => void };

/** What the keyboard opens. One file, loaded with the first of them. */
export function KeyboardDialog({ shown, onClose }: DialogProps) {
  return shown === 'palette' ? <Palette onClose={onClose} /> : <ShortcutList onClose={onClose} />;
}

function ShortcutList({ onClose }: Omit<DialogProps, 'shown'>) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="facts">
        {accountLinks('')
          .flatMap(({ links }) => links)
          .map(
            ({ key, label }) =>
              key !== undefined && (
                <div key={key}>
                  <dt>
                    <kbd>g</kbd> <kbd>{key}</kbd>
                  </dt>
                  <dd>{label}</dd>
                </div>
              ),
          )}
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>k</kbd>
          </dt>
          <dd>Go to a page or a task</dd>
        </div>
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search in the list</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>Generate, in the playground</dd>
        </div>
      </dl>
    </Dialog>
  );
}
