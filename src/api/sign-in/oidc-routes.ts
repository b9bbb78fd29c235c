import type { Logger } from 'pino';
import type { VerifiedIdentity, IdentityProvider, OidcVisit } from '../../accounts/sign-in/identity-provider.ts';
import { normalEmail } from '../../accounts/people/email-and-password-format.ts';
import { describeErrorForLog } from '../../platform/setup-errors-and-error-messages.ts';
import { findUserOfIdentity, signInWithIdentity } from '../../credits/sign-up/sign-in-with-identity.ts';
import { createPendingChallenge, consumePendingChallenge } from '../../accounts/sign-in/pending-challenges.ts';
import { recordSecurityEvent } from '../../accounts/people/security-events.ts';
import type { SessionWithToken } from '../../accounts/sign-in/sessions.ts';
import { SignInProofOutdatedError, renewSessionWithVerifiedProof } from '../../accounts/sign-in/sign-in.ts';
import { findBrowserSession, addressAndUserAgentOf, type SessionDeps } from './authenticate-session.ts';
import { requireOwnHost } from '../console/same-origin.ts';
import { setSessionCookie, setOidcVisitCookie, takeOidcVisitCookie } from './session-and-oidc-visit-cookies.ts';
import type { AppRouter, Context } from '../core/request-context-and-responses.ts';
import { HttpError } from '../core/http-error.ts';
import { limitSignIns, type RateLimiter } from '../core/limits/rate-limits.ts';
import type { SignUpPolicy } from '../../credits/sign-up/request-sign-up.ts';

export const oidcCallbackPath = '/console/oidc/callback';

/** `oidc`: undefined without an identity provider. */
export type IdentityProviderDeps = { readonly console: { readonly oidc?: IdentityProvider | undefined } };
type Deps = SessionDeps &
  IdentityProviderDeps & { readonly log: Logger; readonly signIns: RateLimiter; readonly signUp: SignUpPolicy };

export function addOidcRoutes(router: AppRouter, deps: Deps): void {
  router.get('/console/oidc/start', (ctx) => startVisit(ctx, deps));
  router.get(oidcCallbackPath, (ctx) => finishVisit(ctx, deps));
}

async function startVisit(ctx: Context, deps: Deps): Promise<void> {
  const { db, log, console: settings } = deps;
  if (settings.oidc === undefined) throw new HttpError('unknown_endpoint');
  requireOwnHost(ctx, settings.publicUrl);
  limitSignIns(ctx, deps.signIns);
  const query = new URLSearchParams(ctx.querystring);
  const next = nextPage(query.get('next'));
  const isProof = query.get('proof') === '1';
  const session = isProof ? await findBrowserSession(ctx, deps) : undefined;
  if (isProof && session === undefined) return redirectToSignIn(ctx, deps, { next });
  try {
    const { url, visit } = await settings.oidc.begin(isProof);
    const person = session && { userId: session.userId };
    const token = await createPendingChallenge(db, { kind: 'oidc', details: { ...visit, next }, ...person });
    if (token === undefined) throw new HttpError('too_many_sign_ins');
    setOidcVisitCookie(ctx, settings.publicUrl, token);
    redirect(ctx, url);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    log.warn({ requestId: ctx.state.requestId, error: describeErrorForLog(error) }, 'identity provider unavailable');
    redirectToSignIn(ctx, deps, { failed: 'oidc_unavailable', next });
  }
}

/** The cookie binds the visit to its browser, so that a link cannot sign a person in as another user. */
async function finishVisit(ctx: Context, deps: Deps): Promise<void> {
  const { db, log, console: settings } = deps;
  const { oidc, publicUrl } = settings;
  if (oidc === undefined) throw new HttpError('unknown_endpoint');
  requireOwnHost(ctx, publicUrl);
  const token = takeOidcVisitCookie(ctx, publicUrl);
  const proof = token === undefined ? undefined : await consumePendingChallenge(db, 'oidc', token);
  if (proof === undefined) return redirectToSignIn(ctx, deps, { failed: 'oidc_expired' });
  const { userId, details } = proof;
  const next = nextPage(details['next'] ?? null);
  // `startVisit` stored an OidcVisit.
  const identified = await oidc.identify(ctx.querystring, details as OidcVisit).catch((error: unknown) => {
    log.warn({ requestId: ctx.state.requestId, error: describeErrorForLog(error) }, 'identity provider visit failed');
  });
  if (identified === undefined) return redirectToSignIn(ctx, deps, { failed: 'oidc_failed', next });
  const outcome = await (userId === undefined
    ? signIn(ctx, deps, identified)
    : authenticateAgain(ctx, deps, identified, userId));
  if (typeof outcome === 'string') return redirectToSignIn(ctx, deps, { failed: outcome, next });
  setSessionCookie(ctx, publicUrl, outcome);
  redirect(ctx, `${publicUrl}/console${next}`);
}

type Outcome = SessionWithToken | 'oidc_not_invited' | 'oidc_failed' | 'oidc_expired';

async function signIn(ctx: Context, deps: Deps, identified: VerifiedIdentity): Promise<Outcome> {
  const { db } = deps;
  const origin = addressAndUserAgentOf(ctx);
  const email = identified.email === undefined ? undefined : normalEmail(identified.email);
  const before = await findBrowserSession(ctx, deps);
  const signUp = { policy: deps.signUp, requestId: ctx.state.requestId };
  const signedIn = await signInWithIdentity(db, { ...identified, email }, { origin, before, signUp });
  if (signedIn !== undefined) return signedIn;
  await recordSecurityEvent(db, { kind: 'sign_in_failed', email, origin, details: { means: 'oidc' } });
  return 'oidc_not_invited';
}

/** Changes nothing unless the identity is that of the user who started the visit. */
async function authenticateAgain(
  ctx: Context,
  deps: Deps,
  { issuer, subject, authenticatedAt }: VerifiedIdentity,
  userId: string,
): Promise<Outcome> {
  const { db } = deps;
  const origin = addressAndUserAgentOf(ctx);
  const session = await findBrowserSession(ctx, deps);
  if (session?.userId !== userId) return 'oidc_expired';
  if ((await findUserOfIdentity(db, issuer, subject))?.userId !== userId) {
    const { email } = session;
    await recordSecurityEvent(db, { kind: 'sign_in_failed', userId, email, origin, details: { means: 'oidc' } });
    return 'oidc_failed';
  }
  const renewed = await renewSessionWithVerifiedProof(db, session, origin, { means: 'oidc', authenticatedAt }).catch(
    (error: unknown) => {
      if (!(error instanceof SignInProofOutdatedError)) throw error;
    },
  );
  return renewed ?? 'oidc_expired';
}

/** The path of a page of the console. Any other address leads to the first page. */
function nextPage(next: string | null): string {
  if (next === null || !next.startsWith('/') || next.startsWith('//') || next.includes('\\')) return '';
  const { pathname, search } = new URL(`http://console${next}`);
  return pathname === '/' ? '' : pathname + search;
}

type SignInPage = { readonly failed?: string; readonly next?: string };

function redirectToSignIn(ctx: Context, { console: { publicUrl } }: Deps, { failed, next = '' }: SignInPage): void {
  const query = new URLSearchParams({
    ...(failed !== undefined && { failed }),
    ...(next !== '' && { next }),
  }).toString();
  redirect(ctx, `${publicUrl}/console/sign-in${query && `?${query}`}`);
}

function redirect(ctx: Context, url: string): void {
  ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.redirect(url);
  ctx.body = '';
}
