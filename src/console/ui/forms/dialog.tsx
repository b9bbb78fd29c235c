import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button, type ButtonProps } from '../controls/button.tsx';
import { OperatorViewAwareButton } from './operator-view-aware-button.tsx';
import type { Icon } from '../controls/icon.ts';
import { X } from '../controls/icons.ts';
import { Toasts } from '../feedback/toast.tsx';
import './dialog.css';

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly isWide?: boolean | undefined;
  /** It waits for a response that is shown nowhere else. */
  readonly isBusy?: boolean;
};

/**
 * Open as long as it is rendered. The browser keeps the focus inside, closes on Escape and returns the focus. It shows a
 * `div` of class `body` and a `footer` with buttons, in a form where it has fields.
 */
export function Dialog({ title, onClose, children, isWide, isBusy }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    const opener = document.activeElement;
    if (current !== null && !current.open) current.showModal();
    // The close button comes first in the document, but a field is more useful.
    current?.querySelector<HTMLElement>('.body :is(input:not([hidden]), select, textarea)')?.focus();
    return () => {
      current?.close();
      // The dialog is removed before the browser could return the focus.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
      else document.querySelector('main')?.focus({ preventScroll: true });
    };
  }, []);
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
        if (!currentTarget.isConnected) return;
        // Chromium lets a page refuse the first Escape only.
        if (isBusy === true) currentTarget.showModal();
        else onClose();
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button
          variant="quiet"
          size="small icon"
          aria-label="Close"
          disabledReason={isBusy === true ? waitForResponseText : undefined}
          onClick={onClose}
        >
          <X size={16} />
        </Button>
      </header>
      {children}
      <Toasts />
    </dialog>
  );
}

export const waitForResponseText = 'Wait for the response';

type InfoProps = Pick<DialogProps, 'title' | 'onClose' | 'isWide' | 'children'>;

/** Shows something, and is done. */
export function InfoDialog({ children, ...dialog }: InfoProps) {
  return (
    <Dialog {...dialog}>
      <div class="body">{children}</div>
      <footer>
        <Button variant="primary" onClick={dialog.onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}

export type DialogButtonProps = Omit<ButtonProps, 'onClick' | 'children' | 'icon'> & {
  readonly label: string;
  readonly icon?: Icon;
  /** The dialog, while it is open. */
  readonly children: (close: () => void) => ComponentChildren;
};

/** A button and the dialog that it opens. */
export function DialogButton({ label, icon: Icon, children, ...button }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <OperatorViewAwareButton {...button} onClick={() => setOpen(true)}>
        {Icon !== undefined && <Icon size={16} aria-hidden="true" />} {label}
      </OperatorViewAwareButton>
      {isOpen && children(() => setOpen(false))}
    </>
  );
}
