import { Check, Copy } from './icons.ts';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import './code-block.css';
import { shortId } from './short-id.ts';

type CopyProps = { readonly text: string; readonly label: string; readonly isLoud?: boolean };

/** Copies, and shows the result, also to screen readers: success for two seconds, failure until the next try. */
export function CopyButton({ text, label, isLoud }: CopyProps) {
  const [outcome, setOutcome] = useState<'copied' | 'failed'>();
  useEffect(() => {
    if (outcome !== 'copied') return undefined;
    const timer = setTimeout(() => setOutcome(undefined), 2000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const isCopied = outcome === 'copied';
  const icon = isCopied ? <Check size={14} /> : <Copy size={14} />;
  const copy = ({ currentTarget }: { readonly currentTarget: HTMLElement }) =>
    void copyText(text, currentTarget).then((isDone) => setOutcome(isDone ? 'copied' : 'failed'));
  return (
    <>
      {isLoud === true ? (
        <Button size="small" onClick={copy} aria-label={label}>
          {icon} {isCopied ? 'Copied' : 'Copy'}
        </Button>
      ) : (
        <Button variant="quiet" size="small icon" onClick={copy} aria-label={label} title={label}>
          {icon}
        </Button>
      )}
      <span class={outcome === 'failed' ? 'not-copied' : 'visually-hidden'} aria-live="polite">
        {outcome !== undefined && (isCopied ? 'Copied' : 'Select the text and copy it by hand')}
      </span>
    </>
  );
}

type IdProps = { readonly id: string; readonly label: string; readonly isShort?: boolean };

/** An ID and the button that copies it; `isShort` shows only its end. */
export function CopyId({ id, label, isShort }: IdProps) {
  return (
    <span class="id" {...(isShort === true && { title: id })}>
      <code class="soft">{isShort === true ? shortId(id) : id}</code>
      <CopyButton text={id} label={label} />
    </span>
  );
}

/** The clipboard exists for https and loopback only, and may refuse; elsewhere the old way still works. */
async function copyText(text: string, button: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, button);
  }
}

function copySelected(text: string, button: HTMLElement): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  // Outside of an open dialog nothing can be selected.
  (button.closest('dialog') ?? document.body).append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  // The selection took the focus along.
  button.focus();
  return isDone;
}
