import type { Icon } from '../controls/icon.ts';
import type { ComponentChildren } from 'preact';
import './empty.css';

type EmptyProps = {
  readonly icon: Icon;
  readonly title: string;
  readonly children: ComponentChildren;
};

/** An empty list explains itself and offers the next step. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon size={26} aria-hidden="true" />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
