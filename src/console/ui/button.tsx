import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import './button.css';

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'danger primary' | 'quiet';

type Shared = {
  readonly children: ComponentChildren;
  readonly look?: ButtonLook;
  readonly size?: 'small' | 'icon' | 'small icon' | 'wide';
};

export type ButtonProps = Shared &
  Omit<JSX.ButtonHTMLAttributes, 'size' | 'disabled'> & {
    /** The work that the button began is not over: it keeps its label and takes no second click. */
    readonly busy?: boolean;
    /** Why nothing can be done now; shown to everybody, and to screen readers with the button. */
    readonly disabledReason?: string | undefined;
  };

export function Button({ children, look, size, busy, disabledReason, onClick, type, ...rest }: ButtonProps) {
  const id = useId();
  const isStopped = busy === true || disabledReason !== undefined;
  const button = (
    <button
      {...rest}
      type={type ?? 'button'}
      class={classOf(look, size)}
      aria-busy={busy === true}
      aria-disabled={isStopped}
      {...(disabledReason !== undefined && { 'aria-describedby': id, title: disabledReason })}
      onClick={(event) => {
        // Not `disabled`: a button that vanishes from the tab order cannot say why.
        if (isStopped) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {busy === true && <span class="spinner" aria-hidden="true" />}
      {children}
    </button>
  );
  if (disabledReason === undefined) return button;
  return (
    <>
      {button}
      <span id={id} class="visually-hidden">
        {disabledReason}
      </span>
    </>
  );
}

type LinkButtonProps = Shared & { readonly href: string; readonly label?: string };

export function LinkButton({ children, look, size, href, label }: LinkButtonProps) {
  return (
    <Link href={href} class={classOf(look, size)} {...(label !== undefined && { 'aria-label': label })}>
      {children}
    </Link>
  );
}

function classOf(look: ButtonLook = 'plain', size = ''): string {
  return ['button', look, size].filter(Boolean).join(' ');
}
