import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Icon as IconType } from '../controls/icon.ts';
import { CircleAlert, Info, TriangleAlert, X } from '../controls/icons.ts';
import '../controls/badge.css';
import './banner.css';

const icons = { bad: CircleAlert, warn: TriangleAlert, live: Info } as const;

type BannerProps = {
  readonly tone: keyof typeof icons;
  /** In place of that of the tone. */
  readonly icon?: IconType;
  readonly children: ComponentChildren;
  readonly action?: ComponentChildren;
  /** A banner with this can be dismissed, in this browser, until its id changes. `name` is its kind. */
  readonly dismissal?: { readonly name: string; readonly id: string };
};

/** One line above every page. Put it into an element with `role="status"` that is always there, so that it is announced. */
export function Banner({ tone, icon, children, action, dismissal }: BannerProps) {
  const { isDismissed, dismiss } = useDismissal(dismissal);
  const Icon = icon ?? icons[tone];
  if (isDismissed) return null;
  return (
    <div class={`banner ${tone}`}>
      <Icon size={16} aria-hidden="true" />
      <div class="words">{children}</div>
      {action}
      {dismissal !== undefined && (
        <button type="button" class="button quiet icon small" aria-label="Dismiss" onClick={dismiss}>
          <X size={16} aria-hidden="true" />
        </button>
      )}
    </div>
  );
}

const keyOf = (name: string) => `videogen-dismissed-${name}`;

/** The cause of the banner has ended, so the next one is news. */
export function forgetDismissal(name: string): void {
  localStorage.removeItem(keyOf(name));
}

function useDismissal(dismissal: BannerProps['dismissal']) {
  const key = dismissal && keyOf(dismissal.name);
  const [, setCount] = useState(0);
  return {
    isDismissed: key !== undefined && localStorage.getItem(key) === dismissal?.id,
    dismiss: () => {
      if (key === undefined || dismissal === undefined) return;
      localStorage.setItem(key, dismissal.id);
      setCount((count) => count + 1);
      // The button that has the focus disappears.
      document.getElementById('main')?.focus({ preventScroll: true });
    },
  };
}
