import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { X } from 'lucide-preact';
import { Button } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly isWide?: boolean;
  /** With it the dialog is a form, which Enter sends. */
  readonly onSubmit?: () => void;
};

/** Open as long as it is rendered. The browser keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children, footer, isWide, onSubmit }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    const opener = document.activeElement;
    if (current !== null && !current.open) current.showModal();
    // Not the button that closes it, which comes first.
    current?.querySelector<HTMLElement>('.body :is(input:not([hidden]), select, textarea)')?.focus();
    return () => {
      current?.close();
      // Removed before the browser could give the focus back.
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const content = (
    <>
      <header>
        <h2 id={id}>{title}</h2>
        <Button look="quiet" size="small icon" aria-label="Close" onClick={onClose}>
          <X size={16} />
        </Button>
      </header>
      <div class="body">{children}</div>
      {footer !== undefined && <footer>{footer}</footer>}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={isWide === true ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {onSubmit === undefined ? (
        content
      ) : (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {content}
        </form>
      )}
    </dialog>
  );
}

type ConfirmProps = {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly dismiss?: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

/** Before what cannot be taken back. */
export function ConfirmDialog({
  title,
  children,
  action,
  dismiss = 'Cancel',
  isBusy,
  onConfirm,
  onClose,
}: ConfirmProps) {
  const footer = (
    <>
      <Button onClick={onClose}>{dismiss}</Button>
      <Button look="danger" type="submit" busy={isBusy}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer} onSubmit={onConfirm}>
      {children}
    </Dialog>
  );
}
