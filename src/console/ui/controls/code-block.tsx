import { useId, useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import './code-block.css';

export type Sample = { readonly title: string; readonly text: string };

/** One text, or several with tabs, such as one request in three languages. */
export function CodeBlock({ samples, wraps }: { readonly samples: readonly Sample[]; readonly wraps?: boolean }) {
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const sample = samples[chosen] ?? samples[0];
  if (sample === undefined) return null;
  const choose = (index: number) => {
    setChosen(index);
    document.getElementById(`${id}-${index}`)?.focus();
  };
  return (
    <div class={wraps === true ? 'code wraps' : 'code'}>
      <header>
        {samples.length === 1 ? (
          <span class="title">{sample.title}</span>
        ) : (
          <div role="tablist" aria-label="Language">
            {samples.map(({ title }, index) => (
              <button
                key={title}
                id={`${id}-${index}`}
                type="button"
                role="tab"
                aria-selected={sample.title === title}
                aria-controls={`${id}-panel`}
                tabIndex={sample.title === title ? 0 : -1}
                onClick={() => setChosen(index)}
                onKeyDown={({ key }) => {
                  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
                  if (step !== undefined) choose((index + step + samples.length) % samples.length);
                }}
              >
                {title}
              </button>
            ))}
          </div>
        )}
        <CopyButton text={sample.text} label={`Copy ${sample.title}`} />
      </header>
      <div id={`${id}-panel`} {...(samples.length > 1 && { role: 'tabpanel', 'aria-label': sample.title })}>
        {/* Scrolled with the keyboard, too. */}
        <pre tabIndex={0} role="region" aria-label={`${sample.title} text`}>
          <code>{sample.text}</code>
        </pre>
      </div>
    </div>
  );
}
