import { useContext, useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { AccountContext } from '../api/queries.ts';
import { paths } from '../paths.ts';
import { Dialog } from '../ui/dialog.tsx';

const pages = {
  o: ['Overview', paths.overview],
  p: ['Playground', paths.playground],
  t: ['Tasks', paths.tasks],
  c: ['Credits', paths.credits],
  k: ['API keys', paths.keys],
  w: ['Callbacks', paths.callbacks],
} as const;

/** The second key comes within this time after `g`. */
const togetherMs = 1200;

/** `g` and a letter lead to a page, `/` to the search field, `?` lists them. Never while something is typed. */
export function Shortcuts() {
  const account = useContext(AccountContext);
  const [, navigate] = useLocation();
  const [isListed, setListed] = useState(false);
  useEffect(() => {
    let goAt = -Infinity;
    const press = (event: KeyboardEvent) => {
      const { key, target } = event;
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(target)) return;
      if (key === '?') setListed(true);
      else if (key === '/') focusSearch(event);
      else if (key === 'g') goAt = event.timeStamp;
      else if (event.timeStamp - goAt < togetherMs && account !== undefined && isPage(key)) {
        goAt = -Infinity;
        navigate(pages[key][1](account));
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [account, navigate]);
  if (!isListed) return null;
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setListed(false)}>
      <dl class="facts">
        {Object.entries(pages).map(([key, [word]]) => (
          <div key={key}>
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>{word}</dd>
          </div>
        ))}
        <div>
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search in the list</dd>
        </div>
        <div>
          <dt>
            <kbd>Ctrl</kbd> <kbd>Enter</kbd>
          </dt>
          <dd>Generate, in the playground</dd>
        </div>
      </dl>
    </Dialog>
  );
}

function isPage(key: string): key is keyof typeof pages {
  return Object.hasOwn(pages, key);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog, [popover]') !== null;
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLInputElement>('input[type="search"]');
  if (field === null) return;
  event.preventDefault();
  field.focus();
}
