import type { Icon } from '../controls/icon.ts';
import type { ComponentChildren } from 'preact';
import './empty.css';

export type EmptyProps = {
  readonly icon: Icon;
  readonly title: string;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** An empty list explains itself and offers the next step. */
export function Empty({ icon: Icon, title, text, children }: EmptyProps) {
  return (
    <div class="empty">
      <Icon size={26} aria-hidden="true" />
      <h2>{title}</h2>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}
