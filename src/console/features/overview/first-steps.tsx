import { Link } from 'wouter-preact';
import type { Overview } from '../../api/contract.ts';
import { useAccount, useIsOwner } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { Check } from '../../ui/controls/icons.ts';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { accountOverviewText } from './overview-text.ts';
import './overview.css';

/** Shown until the account has a task and, for owners, who create keys, a key. */
export function FirstSteps({ steps }: { readonly steps: Overview['steps'] }) {
  const { accountId } = useAccount();
  const isOwner = useIsOwner();
  const { task, key, callback } = accountOverviewText.steps;
  if (steps.hasTask && (steps.hasKey || !isOwner)) return null;
  const list = [
    { ...task, isDone: steps.hasTask, href: accountPaths.playground(accountId) },
    ...(isOwner ? [{ ...key, isDone: steps.hasKey, href: accountPaths.keys(accountId) }] : []),
    { ...callback, isDone: steps.hasCallback, href: accountPaths.callbacks(accountId) },
  ];
  return (
    <Card title={accountOverviewText.firstSteps} isFlush>
      <ol class="steps">
        {list.map(({ title, text, isDone, href, action }, index) => (
          <li key={title}>
            <span class={isDone ? 'mark done' : 'mark'}>
              {isDone ? <Check size={14} aria-label={accountOverviewText.done} /> : index + 1}
            </span>
            <h3>{title}</h3>
            <p class="soft">{text}</p>
            <p class="go">
              <Link href={href}>{action}</Link>
            </p>
          </li>
        ))}
      </ol>
    </Card>
  );
}
