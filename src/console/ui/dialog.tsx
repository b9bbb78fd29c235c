import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { X } from './icons.ts';
import { Button } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly footer?: ComponentChildren;
  readonly isWide?: boolean;
  /** With it the dialog is a form, which Enter sends. */
  readonly onSubmit?: () => void;
  /** It waits for an answer that is shown nowhere else, and does not close before. */
  readonly isBusy?: boolean;
};

/** Open as long as it is rendered. The browser keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children, footer, isWide, onSubmit, isBusy }: DialogProps) {
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
        <Button
          look="quiet"
          size="small icon"
          aria-label="Close"
          disabledReason={isBusy === true ? waitReason : undefined}
          onClick={onClose}
        >
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
        if (isBusy !== true) onClose();
      }}
      onClose={({ currentTarget }) => {
        // Browsers close it at the second Escape in a row, whatever the first was answered.
        if (isBusy === true && currentTarget.isConnected) currentTarget.showModal();
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

const waitReason = 'Wait for the answer';

type DismissProps = { readonly onClose: () => void; readonly isBusy: boolean; readonly children?: string | undefined };

/** The button that changes nothing. */
export function Dismiss({ onClose, isBusy, children = 'Cancel' }: DismissProps) {
  return (
    <Button disabledReason={isBusy ? waitReason : undefined} onClick={onClose}>
      {children}
    </Button>
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
export function ConfirmDialog({ title, children, action, dismiss, isBusy, onConfirm, onClose }: ConfirmProps) {
  const footer = (
    <>
      <Dismiss onClose={onClose} isBusy={isBusy}>
        {dismiss}
      </Dismiss>
      <Button look="danger" type="submit" busy={isBusy}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog title={title} onClose={onClose} footer={footer} onSubmit={onConfirm} isBusy={isBusy}>
      {children}
    </Dialog>
  );
}
