import type { FinalSession, FinalTopUp, PaymentEvidence } from './payment-evidence.ts';

/** The states that our books may give to a checkout in a state at Stripe. */
const allowed: Readonly<Record<FinalSession['state'], readonly FinalTopUp['state'][]>> = {
  // A purchase whose checkout was never returned to its buyer ends immediately, and its checkout a day later.
  open: ['open', 'failed', 'expired'],
  expired: ['expired', 'failed'],
  processing: ['processing'],
  failed: ['failed'],
  paid: ['paid'],
};

/** Our ledger must have what Stripe's records have. Returns a sentence for each difference, with the id of the session. */
export function judgePayments(evidence: PaymentEvidence): readonly string[] {
  const { sessions, topUps, ungranted, ordered, forgeries } = evidence;
  const topUpById = new Map(topUps.map((topUp) => [topUp.topUpId, topUp]));
  const sessionByTopUp = new Map(sessions.map((session) => [session.topUpId, session]));
  const known = new Set(sessions.map(({ sessionId }) => sessionId));
  return [
    ...sessions.flatMap((session) => judgeSession(session, topUpById.get(session.topUpId))),
    ...sessions
      .filter((session) => sessionByTopUp.get(session.topUpId) !== session)
      .map(({ sessionId, topUpId }) => `session ${sessionId} is not the only one of top-up ${topUpId}`),
    ...topUps
      .filter(({ topUpId, grants, adjusted }) => !sessionByTopUp.has(topUpId) && (grants.length > 0 || adjusted !== 0))
      .map(({ topUpId }) => `top-up ${topUpId} has entries, and Stripe has no session of it`),
    ...ordered.filter((id) => !known.has(id)).map((id) => `session ${id} was returned to a buyer, and Stripe has none`),
    ...ungranted.map((payment) => `session ${payment} is paid and not granted by our own records`),
    ...forgeries.map((id) => `event ${id} was accepted with an invalid signature`),
  ];
}

function judgeSession({ sessionId, ...session }: FinalSession, topUp: FinalTopUp | undefined): readonly string[] {
  const name = `session ${sessionId} (${session.state})`;
  if (topUp === undefined) return [`${name} has no purchase in our books`];
  const { state, grants, adjusted, checkoutId } = topUp;
  const granted = grants.reduce((sum, amount) => sum + amount, 0);
  const expected = session.state === 'paid' ? [session.credits] : [];
  return [
    ...(allowed[session.state].includes(state) ? [] : [`${name} is ${state} in our books`]),
    ...(topUp.accountId === session.accountId ? [] : [`${name} is of account ${topUp.accountId}`]),
    ...(checkoutId === undefined || checkoutId === sessionId ? [] : [`${name} is session ${checkoutId} in our books`]),
    ...(grants.join() === expected.join()
      ? []
      : [`${name} was granted ${grants.join(' and ') || 'nothing'} instead of ${expected.join() || 'nothing'}`]),
    ...(granted + adjusted === session.due
      ? []
      : [`${name} has ${granted + adjusted} credits after refunds and disputes, and ${session.due} are due`]),
    ...(topUp.taken.join() === session.taken.join()
      ? []
      : [
          `${name} is reversed by ${topUp.taken.join(', ') || 'nothing'}, at Stripe by ${session.taken.join(', ') || 'nothing'}`,
        ]),
  ];
}
