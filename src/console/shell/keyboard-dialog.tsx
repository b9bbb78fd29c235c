import { Dialog, DialogBody } from '../ui/dialog.tsx';
import { accountNav } from './nav.ts';
import { Palette } from './palette.tsx';
import { shellText } from './shell-text.ts';

type DialogProps = { readonly shown: 'list' | 'palette'; readonly onClose: () => void };

/** The dialogs that shortcuts open. */
export function KeyboardDialog({ shown, onClose }: DialogProps) {
  return shown === 'palette' ? <Palette onClose={onClose} /> : <ShortcutList onClose={onClose} />;
}

function ShortcutList({ onClose }: Omit<DialogProps, 'shown'>) {
  return (
    <Dialog title={shellText.shortcuts.title} onClose={onClose}>
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
            <dd>{shellText.shortcuts.palette}</dd>
          </div>
          <div>
            <dt>
              <kbd>/</kbd>
            </dt>
            <dd>{shellText.shortcuts.search}</dd>
          </div>
          <div>
            <dt>
              <kbd>Ctrl</kbd> <kbd>Enter</kbd>
            </dt>
            <dd>{shellText.shortcuts.generate}</dd>
          </div>
          <div>
            <dt>
              <kbd>Space</kbd> <kbd>←</kbd> <kbd>→</kbd> <kbd>m</kbd>
            </dt>
            <dd>{shellText.shortcuts.playback}</dd>
          </div>
        </dl>
      </DialogBody>
    </Dialog>
  );
}
