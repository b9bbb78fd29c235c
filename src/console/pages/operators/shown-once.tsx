import type { Sent } from '../../api/call.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';

export type NewLink = Sent<'/api/admin/v1/people/invite'>;

type ShownOnceProps = {
  readonly title: string;
  readonly what: string;
  readonly text: string;
  readonly onClose: () => void;
};

/** A secret that the service does not show again. */
export function ShownOnce({ title, what, text, onClose }: ShownOnceProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Notice tone="warn" title={`Copy the ${what} now`}>
        <p>It is not shown again. Anybody who has it can use it, so hand it over safely.</p>
      </Notice>
      <div class="secret">
        <code>{text}</code>
        <CopyButton text={text} label={`Copy the ${what}`} isLoud />
      </div>
    </Dialog>
  );
}
