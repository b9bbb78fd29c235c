import type { OidcVisit } from '../../../oidc/identity-provider.ts';
import { normalEmail } from '../../../domain/user.ts';
import { describeError } from '../../../domain/errors.ts';
import { userOfIdentity } from '../../../stores/oidc-identities.ts';
import { beginProof, takeProof } from '../../../stores/pending-proofs.ts';
import { recordEvent } from '../../../stores/security-events.ts';
import { signIn } from '../../../stores/sign-in.ts';
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
  try {
    const { url, visit } = await settings.oidc.begin();
    const token = await beginProof(db, { kind: 'oidc', details: visit });
    if (token === undefined) throw new HttpError('too_many_sign_ins');
    giveVisitCookie(ctx, settings.publicUrl, token);
    redirect(ctx, url);
  } catch (error) {
    if (error instanceof HttpError) throw error;
    log.warn({ requestId: ctx.state.requestId, error: describeError(error) }, 'the identity provider did not answer');
    backToSignIn(ctx, deps, 'oidc_unavailable');
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
  if (proof === undefined) return backToSignIn(ctx, deps, 'oidc_expired');
  // `begin` made them.
  const identified = await oidc.identify(ctx.querystring, proof.details as OidcVisit).catch((error: unknown) => {
    log.warn(
      { requestId: ctx.state.requestId, error: describeError(error) },
      'a visit to the identity provider failed',
    );
  });
  const origin = originOf(ctx);
  if (identified === undefined) return backToSignIn(ctx, deps, 'oidc_failed');
  const email = identified.email === undefined ? undefined : normalEmail(identified.email);
  const user = await userOfIdentity(db, { ...identified, email }, origin);
  if (user === undefined) {
    await recordEvent(db, { kind: 'sign_in_failed', email, origin, details: { means: 'oidc' } });
    return backToSignIn(ctx, deps, 'oidc_not_invited');
  }
  const before = await sessionBefore(ctx, deps);
  const made = await signIn(db, { user, origin, means: 'oidc', before });
  giveCookie(ctx, publicUrl, made.token, made.session.expiresAt);
  redirect(ctx, `${publicUrl}/console`);
}

function backToSignIn(ctx: Context, { console: { publicUrl } }: HttpDeps, failed: string): void {
  redirect(ctx, `${publicUrl}/console/sign-in?failed=${failed}`);
}

function redirect(ctx: Context, url: string): void {
  ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.redirect(url);
  ctx.body = '';
}
