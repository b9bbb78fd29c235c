import { Dialog, DialogBody } from '../ui/dialog.tsx';
import { accountNav } from './nav.ts';
import { Palette } from './palette.tsx';

type DialogProps = { readonly shown: 'list' | 'palette'; readonly onClose: () => void };

/** What the keyboard opens. */
export function KeyboardDialog({ shown, onClose }: DialogProps) {
  return shown === 'palette' ? <Palette onClose={onClose} /> : <ShortcutList onClose={onClose} />;
}

function ShortcutList({ onClose }: Omit<DialogProps, 'shown'>) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <DialogBody>
        <dl class="facts">
          {accountNav('', 'owner')
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
      </DialogBody>
    </Dialog>
  );
}
