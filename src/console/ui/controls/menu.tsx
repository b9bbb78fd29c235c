import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import './menu.css';

type MenuProps = {
  readonly label: string;
  readonly trigger: ComponentChildren;
  readonly triggerClass: string;
  /** The trigger has words of its own, which name it. */
  readonly hasWords?: boolean;
  /** Links and buttons; a click on one closes the menu. */
  readonly children: ComponentChildren;
};

/** A popover of links and buttons below its trigger; arrows move between them, Escape closes. */
export function Menu({ label, trigger, triggerClass, hasWords, children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const move = (event: JSX.TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const items = [...event.currentTarget.querySelectorAll<HTMLElement>('a, button')];
    const index = items.findIndex((item) => item === document.activeElement);
    items.at((index + step) % items.length)?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={triggerClass}
        {...(hasWords !== true && { 'aria-label': label })}
        popovertarget={id}
      >
        {trigger}
      </button>
      <div
        ref={box}
        id={id}
        popover="auto"
        class="menu"
        role="group"
        aria-label={label}
        onKeyDown={move}
        onClick={(event) => {
          if (event.target instanceof Element && event.target.closest('a, button') !== null) box.current?.hidePopover();
        }}
        onToggle={(event) => {
          if (event.newState !== 'open' || button.current === null) return;
          align(event.currentTarget, button.current);
          event.currentTarget.querySelector<HTMLElement>('a, button')?.focus();
        }}
      >
        {children}
      </div>
    </>
  );
}

/** Below the trigger, or above it where the window ends; anchor positioning is too new to lean on. */
function align(menu: HTMLElement, trigger: HTMLElement): void {
  const at = trigger.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = menu;
  const isBelow = at.bottom + height + 8 < innerHeight;
  const isLeft = at.left + width + 8 < innerWidth;
  menu.style.top = `${isBelow ? at.bottom : Math.max(4, at.top - height - 8)}px`;
  menu.style.left = `${isLeft ? at.left : Math.max(4, at.right - width)}px`;
}
