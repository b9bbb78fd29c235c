import type { JSX } from 'preact';
import { toast } from '../../../ui/feedback/toast.tsx';
import { playgroundText } from '../playground-text.ts';

// Files that are dropped or pasted anywhere on the form go to the field under the pointer or the focus, else to the first field of their
// kind that takes more. Each field receives them through its own file input, as if they had been chosen there.

type DropProps = Pick<JSX.HTMLAttributes<HTMLElement>, 'onDragOver' | 'onDragLeave' | 'onDrop' | 'onPaste'>;

export const formDropAndPasteHandlers: DropProps = {
  onDragOver: (event) => {
    if (event.dataTransfer?.types.includes('Files') !== true) return;
    event.preventDefault();
    event.currentTarget.dataset['dragging'] = '';
  },
  onDragLeave: (event) => {
    const { currentTarget: form, relatedTarget: to } = event;
    if (!(to instanceof Node && form.contains(to))) delete form.dataset['dragging'];
  },
  onDrop: (event) => {
    delete event.currentTarget.dataset['dragging'];
    takeFiles(event, event.dataTransfer?.files);
  },
  onPaste: (event) => {
    // Office programs add a picture of the text that they copy.
    if (event.clipboardData?.types.includes('text/plain') !== true) takeFiles(event, event.clipboardData?.files);
  },
};

function takeFiles(event: JSX.TargetedEvent<HTMLElement>, files: FileList | undefined): void {
  if (files === undefined || files.length === 0) return;
  event.preventDefault();
  const form = event.currentTarget;
  const under = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-media]') : null;
  const parts = new Map<HTMLElement | null, DataTransfer>();
  for (const file of files) {
    const [media = ''] = file.type.split('/');
    const ofKind = `[data-media="${CSS.escape(media)}"]`;
    const field =
      under ??
      form.querySelector<HTMLElement>(`${ofKind}:not([data-disabled])`) ??
      form.querySelector<HTMLElement>(ofKind);
    const part = parts.get(field) ?? new DataTransfer();
    part.items.add(file);
    parts.set(field, part);
  }
  for (const [field, part] of parts) {
    const input = field?.querySelector<HTMLInputElement>('input[type="file"]');
    const disabledReason = field?.dataset['disabled'];
    if (input === null || input === undefined || disabledReason !== undefined) {
      toast(disabledReason ?? playgroundText.noFieldFor, 'bad');
      continue;
    }
    input.files = part.files;
    input.dispatchEvent(new Event('change'));
  }
}
