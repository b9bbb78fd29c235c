import { Check, Copy } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { Button } from './button.tsx';

type CopyProps = { readonly text: string; readonly label: string; readonly isLoud?: boolean };

/** Copies; says so for two seconds, also to screen readers. */
export function CopyButton({ text, label, isLoud }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const icon = isCopied ? <Check size={14} /> : <Copy size={14} />;
  const copy = () => void copyText(text).then(() => setCopied(true));
  return (
    <>
      {isLoud === true ? (
        <Button size="small" onClick={copy} aria-label={label}>
          {icon} {isCopied ? 'Copied' : 'Copy'}
        </Button>
      ) : (
        <Button look="quiet" size="small icon" onClick={copy} aria-label={label} title={label}>
          {icon}
        </Button>
      )}
      <span class="visually-hidden" aria-live="polite">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}

/** The clipboard exists for https and loopback only; elsewhere the old way still works. */
async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  return undefined;
}

/** The end of an id tells it from its neighbours: it begins with the time at which it was made. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`;
}
