import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';
import './button.css';

export type ButtonVariant = 'plain' | 'primary' | 'danger' | 'danger primary' | 'quiet';

type Shared = {
  readonly children: ComponentChildren;
  readonly variant?: ButtonVariant;
  readonly size?: 'small' | 'icon' | 'small icon' | 'wide';
};

export type ButtonProps = Shared &
  Omit<JSX.ButtonHTMLAttributes, 'size' | 'disabled'> & {
    /** The request is running: the button keeps its label and takes no second click. */
    readonly busy?: boolean;
    /** Explains why the button is disabled, on hover and to screen readers. */
    readonly disabledReason?: string | undefined;
  };

export function Button({ children, variant, size, busy, disabledReason, onClick, type, ...rest }: ButtonProps) {
  const id = useId();
  const isStopped = busy === true || disabledReason !== undefined;
  const button = (
    <button
      {...rest}
      type={type ?? 'button'}
      class={classOf(variant, size)}
      aria-busy={busy === true}
      aria-disabled={isStopped}
      {...(disabledReason !== undefined && { 'aria-describedby': id, title: disabledReason })}
      onClick={(event) => {
        // The request of a double click's first click may have ended before the second click, which would charge once more.
        const isRepeated = type === 'submit' && event.detail > 1;
        // A button with `disabled` leaves the tab order, so its reason would never be read out.
        if (isStopped || isRepeated) event.preventDefault();
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

type LinkButtonProps = Shared & { readonly href: string };

export function LinkButton({ children, variant, size, href }: LinkButtonProps) {
  return (
    <Link href={href} class={classOf(variant, size)}>
      {children}
    </Link>
  );
}

function classOf(variant: ButtonVariant = 'plain', size = ''): string {
  return ['button', variant, size].filter(Boolean).join(' ');
}
