import type { Me } from '../api/contract.ts';
import { Info, TriangleAlert } from '../ui/icons.ts';
import { shellText } from './shell-text.ts';

/** The announcement of operators to everyone. */
export function AnnouncementBanner({ me: { announcement } }: { readonly me: Me }) {
  if (announcement === null) return null;
  const { text, level, link } = announcement;
  const Icon = level === 'warning' ? TriangleAlert : Info;
  return (
    <p class={level === 'warning' ? 'banner' : 'banner info'} role="status">
      <Icon size={16} aria-hidden="true" />
      <span>
        <bdi>{text}</bdi>{' '}
        {link !== null && (
          <a href={link} target="_blank" rel="noreferrer">
            {shellText.learnMore}
          </a>
        )}
      </span>
    </p>
  );
}
