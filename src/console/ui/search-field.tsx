import { useEffect, useRef, useState } from 'preact/hooks';
import './list.css';

type SearchProps = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

const pauseMs = 250;

/** Searches while somebody writes, once they pause; Enter does so at once. The shortcut `/` leads to it. */
export function SearchField({ label, value, onValue }: SearchProps) {
  const [text, setText] = useState(value);
  const [asked, setAsked] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  // The address changed by itself, as with the back button.
  if (value !== asked) {
    setAsked(value);
    setText(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = (next: string) => {
    clearTimeout(timer.current);
    setAsked(next.trim());
    onValue(next.trim());
  };
  return (
    <form
      role="search"
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        ask(text);
      }}
    >
      <input
        type="search"
        class="input search"
        aria-label={label}
        placeholder={label}
        value={text}
        spellcheck={false}
        onInput={({ currentTarget }) => {
          const next = currentTarget.value;
          setText(next);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => ask(next), pauseMs);
        }}
      />
    </form>
  );
}
