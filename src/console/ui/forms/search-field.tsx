import { useEffect, useRef, useState } from 'preact/hooks';
import '../lists/list.css';

type SearchProps = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
};

const pauseMs = 250;

/** Searches when typing pauses, or on Enter. The shortcut `/` leads to it. */
export function SearchField({ label, value, onValue }: SearchProps) {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>();
  // The address changed elsewhere, for example by the back button.
  if (value !== sent) {
    clearTimeout(timer.current);
    setSent(value);
    setText(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  const search = (next: string) => {
    clearTimeout(timer.current);
    setSent(next.trim());
    onValue(next.trim());
  };
  return (
    <form
      role="search"
      aria-label={label}
      class="search"
      onSubmit={(event) => {
        event.preventDefault();
        search(text);
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
          timer.current = setTimeout(() => search(next), pauseMs);
        }}
      />
    </form>
  );
}
