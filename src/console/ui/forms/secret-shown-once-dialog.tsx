import type { ComponentChildren } from 'preact';
import { CopyButton } from '../controls/copy-button.tsx';
import { InfoDialog } from './dialog.tsx';
import { Notice } from '../feedback/notice-and-error-box.tsx';

type ShownOnceProps = {
  readonly title: string;
  /** The kind of text, as in "Copy key". */
  readonly what: string;
  readonly text: string;
  /** The next step. */
  readonly children: ComponentChildren;
  readonly details?: ComponentChildren;
  readonly onClose: () => void;
};

/** A secret or a link that the service does not show again. */
export function SecretShownOnceDialog({ title, what, text, children, details, onClose }: ShownOnceProps) {
  return (
    <InfoDialog title={title} isWide={details !== undefined} onClose={onClose}>
      <Notice tone="warn" title={`Copy this ${what} now. You won’t see it again.`} text={children} />
      <div class="secret">
        <code>{text}</code>
        <CopyButton text={text} label={`Copy ${what}`} isLoud />
      </div>
      {details}
    </InfoDialog>
  );
}
