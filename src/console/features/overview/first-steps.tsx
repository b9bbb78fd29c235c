import { Link } from 'wouter-preact';
import type { Overview } from '../../api/contract.ts';
import { useAccount } from '../../api/session.ts';
import { paths } from '../../paths.ts';
import { Check } from '../../ui/icons.ts';
import { Card } from '../../ui/page.tsx';
import { overviewText } from './overview-text.ts';
import './overview.css';

/** Shown until the account has a key and a task. */
export function FirstSteps({ steps }: { readonly steps: Overview['steps'] }) {
  const { accountId } = useAccount();
  const { task, key, callback } = overviewText.steps;
  const list = [
    { ...task, isDone: steps.hasTask, href: paths.playground(accountId) },
    { ...key, isDone: steps.hasKey, href: paths.keys(accountId) },
    { ...callback, isDone: steps.hasCallback, href: paths.callbacks(accountId) },
  ];
  return (
    <Card title={overviewText.firstSteps} isFlush>
      <ol class="steps">
        {list.map(({ title, text, isDone, href, action }, index) => (
          <li key={title}>
            <span class={isDone ? 'mark done' : 'mark'}>
              {isDone ? <Check size={14} aria-label={overviewText.done} /> : index + 1}
            </span>
            <h3>{title}</h3>
            <p>{text}</p>
            <p class="go">
              <Link href={href}>{action}</Link>
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
