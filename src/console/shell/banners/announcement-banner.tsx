import type { Me } from '../../api/contract.ts';
import { Banner } from '../../ui/feedback/banner.tsx';
import { shellText } from '../shell-text.ts';

/** The announcement of operators to everyone. */
export function AnnouncementBanner({ me: { announcement } }: { readonly me: Me }) {
  if (announcement === null) return null;
  const { text, level, link } = announcement;
  return (
    <Banner tone={level === 'warning' ? 'warn' : 'live'}>
      <bdi>{text}</bdi>{' '}
      {link !== null && (
        <a href={link} target="_blank" rel="noreferrer">
          {shellText.learnMore}
        </a>
      )}
    </Banner>
  );
}
