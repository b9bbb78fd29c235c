import { LRUCache } from 'lru-cache';
import type { Caller } from '../../domain/api-key.ts';
import { hashApiKey } from '../../stores/api-key-format.ts';
import { bearerToken } from '../bearer-token.ts';
import { failureAnswer, failureOf } from '../failure-of.ts';
import type { Context, Step, WithCaller } from '../request-state.ts';
import { setCaller } from './authenticate.ts';

const maxRemembered = 10_000;
/** Then the key is looked up again, which also has its use written down. */
const rememberedForMs = 30_000;

/**
 * Finds the caller by these checks, `authenticate` first, and remembers those who passed them. A remembered caller goes
 * on without another look, for what never changes is known: account, scopes, dialect. Whether the key is still good
 * must be seen by whatever the endpoint does in the end, in the same statement. Before anything is refused to a caller
 * who was only presumed, the checks are made after all: who has been revoked or suspended hears that and nothing else.
 */
export function presumeCaller(
  checks: readonly Step<WithCaller>[],
  now: () => number = () => performance.now(),
): Step<WithCaller> {
  const remembered = new LRUCache<string, Caller>({
    max: maxRemembered,
    ttl: rememberedForMs,
    ttlResolution: 0,
    perf: { now },
  });
  return async (ctx, next) => {
    const key = hashOf(ctx);
    const caller = remembered.get(key);
    const check = (last: () => Promise<void>) =>
      inTurn(ctx, checks, () => {
        remembered.set(key, ctx.state.caller);
        return last();
      });
    if (caller === undefined) return check(next);
    setCaller(ctx, caller);
    try {
      await next();
    } catch (error) {
      if (isOurFault(error)) throw error;
      remembered.delete(key);
      await check(() => Promise.reject(error));
    }
  };
}

/** Keys are never kept in plain form. */
function hashOf(ctx: Context): string {
  return hashApiKey(bearerToken(ctx.get('Authorization')) ?? '').toString('base64');
}

/**
 * Such an answer tells whether something was charged, which a look at the key, failing in its turn, must not replace.
 */
function isOurFault(error: unknown): boolean {
  return failureAnswer(failureOf(error)).envelope.code >= 500;
}

async function inTurn(
  ctx: Context<WithCaller>,
  [step, ...rest]: readonly Step<WithCaller>[],
  last: () => Promise<void>,
): Promise<void> {
  await (step === undefined ? last() : step(ctx, () => inTurn(ctx, rest, last)));
}
