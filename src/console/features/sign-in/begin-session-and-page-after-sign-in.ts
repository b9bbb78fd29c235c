import { useLocation } from 'wouter-preact';
import type { Me } from '../../api/contract.ts';
import { useReplaceSession } from '../../api/session.ts';

/** A sign-in leads to the requested page, never out of the console. */
export function pageAfterSignIn(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? '/';
  return next.startsWith('/') && !next.startsWith('//') && !next.includes('\\') ? next : '/';
}

/** Begins a session at this page. */
export function useBeginSessionAndNavigate(page: string) {
  const signedIn = useReplaceSession();
  const [, navigate] = useLocation();
  return (me: Me) => {
    signedIn(me);
    navigate(page, { replace: true });
  };
}
