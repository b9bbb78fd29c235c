import type { Identified, OidcVisit } from '../../../oidc/identity-provider.ts';
import { normalEmail } from '../../../domain/user.ts';
import { describeError } from '../../../domain/errors.ts';
import { signInWithIdentity } from '../../../stores/oidc-identities.ts';
import { beginProof, takeProof } from '../../../stores/pending-proofs.ts';
import { recordEvent } from '../../../stores/security-events.ts';
import { dateProof, type NewSession } from '../../../stores/sessions.ts';
import { ProofOutdated, reauthenticate } from '../../../stores/sign-in.ts';
import { findUserWithIdentity } from '../../../stores/users.ts';
import { originOf } from '../../console/authenticate-session.ts';
import { requireOwnHost } from '../../console/same-origin.ts';
import { giveCookie, giveVisitCookie, takeVisitCookie } from '../../console/session-cookie.ts';
import type { AppRouter, Context } from '../../context.ts';
import { HttpError } from '../../errors.ts';
import type { HttpDeps } from '../../http-deps.ts';
import { limitSignIns } from '../../limits/rate-limits.ts';
import { sessionBefore } from './sign-in.ts';

export const oidcCallbackPath = '/console/oidc/callback';

/** Pages through which a browser passes on its way to the identity provider and back. They show nothing. */
export function oidcRoutes(router: AppRouter, deps: HttpDeps): void {
  router.get('/console/oidc/start', (ctx) => start(ctx, deps));
  router.get(oidcCallbackPath, (ctx) => comeBack(ctx, deps));
}

async function start(ctx: Context, deps: HttpDeps): Promise<void> {
  const { db, log, console: settings } = deps;
  if (settings.oidc === undefined) throw new HttpError('unknown_endpoint');
  requireOwnHost(ctx, settings.publicUrl);
  limitSignIns(ctx, deps.signIns);
  const query = new URLSearchParams(ctx.querystring);
  const next = nextPage(query.get('next'));
  const isProof = query.get('proof') === '1';
  const session = isProof ? await sessionBefore(ctx, deps) : undefined;
  if (isProof && session === undefined) return backToSignIn(ctx, deps, { next });
  try {
    const { url, visit } = await settings.oidc.begin(isProof);
    const whose = session && { userId: session.userId };
    const token = await beginProof(db, { kind: 'oidc', details: { ...visit, next }, ...whose });
    if (token === undefined) throw new HttpError('too_many_sign_ins');
    giveVisitCookie(ctx, settings.publicUrl, token);
    redirect(ctx, url);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    log.warn({ requestId: ctx.state.requestId, error: describeError(error) }, 'the identity provider did not answer');
    backToSignIn(ctx, deps, { failed: 'oidc_unavailable', next });
  }
}

/** The cookie of the visit ties the answer to the browser that asked: nobody can be signed in as somebody else by a link. */
async function comeBack(ctx: Context, deps: HttpDeps): Promise<void> {
  const { db, log, console: settings } = deps;
  const { oidc, publicUrl } = settings;
  if (oidc === undefined) throw new HttpError('unknown_endpoint');
  requireOwnHost(ctx, publicUrl);
  const token = takeVisitCookie(ctx, publicUrl);
  const proof = token === undefined ? undefined : await takeProof(db, 'oidc', token);
  if (proof === undefined) return backToSignIn(ctx, deps, { failed: 'oidc_expired' });
  const { userId, details } = proof;
  const next = nextPage(details['next'] ?? null);
  // `begin` made them.
  const identified = await oidc.identify(ctx.querystring, details as OidcVisit).catch((error: unknown) => {
    log.warn(
      { requestId: ctx.state.requestId, error: describeError(error) },
      'a visit to the identity provider failed',
    );
  });
  if (identified === undefined) return backToSignIn(ctx, deps, { failed: 'oidc_failed', next });
  const made = await (userId === undefined ? comeIn(ctx, deps, identified) : proveAgain(ctx, deps, identified, userId));
  if (typeof made === 'string') return backToSignIn(ctx, deps, { failed: made, next });
  await dateProof(db, made.session.sessionId, identified.authenticatedAt);
  giveCookie(ctx, publicUrl, made.token, made.session.expiresAt);
  redirect(ctx, `${publicUrl}/console${next}`);
}

/** A session, or why there is none. */
type Arrival = NewSession | 'oidc_not_invited' | 'oidc_failed' | 'oidc_expired';

async function comeIn(ctx: Context, deps: HttpDeps, identified: Identified): Promise<Arrival> {
  const { db } = deps;
  const origin = originOf(ctx);
  const email = identified.email === undefined ? undefined : normalEmail(identified.email);
  const before = await sessionBefore(ctx, deps);
  const made = await signInWithIdentity(db, { ...identified, email }, { origin, before });
  if (made === undefined) {
    await recordEvent(db, { kind: 'sign_in_failed', email, origin, details: { means: 'oidc' } });
    return 'oidc_not_invited';
  }
  return made;
}

/** For the person who began the visit. Anybody else whom the provider knows gets no session, and nothing is changed. */
async function proveAgain(
  ctx: Context,
  deps: HttpDeps,
  { issuer, subject }: Identified,
  userId: string,
): Promise<Arrival> {
  const { db } = deps;
  const origin = originOf(ctx);
  const session = await sessionBefore(ctx, deps);
  if (session?.userId !== userId) return 'oidc_expired';
  if ((await findUserWithIdentity(db, userId, issuer, subject)) === undefined) {
    const { email } = session;
    await recordEvent(db, { kind: 'sign_in_failed', userId, email, origin, details: { means: 'oidc' } });
    return 'oidc_failed';
  }
  const renewed = await reauthenticate(db, session, origin, { means: 'oidc' }).catch((error: unknown) => {
    if (!(error instanceof ProofOutdated)) throw error;
  });
  return renewed ?? 'oidc_expired';
}

/** A page of the console, by its path there; another address is that of none. */
function nextPage(next: string | null): string {
  if (next === null || !next.startsWith('/') || next.startsWith('//') || next.includes('\\')) return '';
  const { pathname, search } = new URL(`http://console${next}`);
  return pathname === '/' ? '' : pathname + search;
}

type Why = { readonly failed?: string; readonly next?: string };

function backToSignIn(ctx: Context, { console: { publicUrl } }: HttpDeps, { failed, next = '' }: Why): void {
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
