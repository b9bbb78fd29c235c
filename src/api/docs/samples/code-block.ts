import { type Html, html } from '../html.ts';

/** `language` is the name after the fence of a code block in Markdown. */
export type CodeSample = { readonly language: string; readonly text: string };

/** The titles of the tabs, by the language of their sample. */
const titles: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', python: 'Python' };

export function hasTab(language: string): boolean {
  return titles[language] !== undefined;
}

export function codeBlock({ text }: Pick<CodeSample, 'text'>, label = 'Code'): Html {
  return html`<div class="code">
    <pre tabindex="0" role="group" aria-label="${label}"><code>${text}</code></pre>
    ${copyButton(label)}
  </div>`;
}

/** Samples of one request, with a tab for each language. Without JavaScript all are shown. */
export function samplesBlock(samples: readonly CodeSample[], name: string): Html {
  return html`<div class="code samples">
    <header>
      <div role="tablist" aria-label="Language">${samples.map(({ language }, index) => tab(language, index))}</div>
      ${copyButton(`the sample of ${name}`)}
    </header>
    ${samples.map(({ language, text }) => panel(language, text, name))}
  </div>`;
}

function tab(language: string, index: number): Html {
  const isFirst = index === 0;
  return html`<button
    type="button"
    role="tab"
    data-choose="${language}"
    aria-selected="${String(isFirst)}"
    tabindex="${isFirst ? 0 : -1}"
  >
    ${titles[language] ?? language}
  </button>`;
}

function panel(language: string, text: string, name: string): Html {
  const title = titles[language] ?? language;
  return html`<div role="tabpanel" data-language="${language}" aria-label="${title}">
    <pre tabindex="0" role="group" aria-label="${title} for ${name}"><code>${text}</code></pre>
  </div>`;
}

function copyButton(label: string): Html {
  return html`<button type="button" class="copy" aria-label="Copy ${label}">Copy</button>`;
}
