import type { PaymentProvider } from '../../../src/credits/payments/payment-provider.ts';
import type { PaymentDeps } from '../../../src/credits/payments/apply-payments-and-reversals.ts';
import { type DeathPoint, Killed } from '../../support/processes/dying-worker-parts.ts';

// A process that dies at each of its awaits, before the call or after it: nothing that it would have done afterwards happens.

type Mortal = { readonly deps: PaymentDeps; readonly calls: string[]; readonly hasDied: () => boolean };

function mortal(deps: PaymentDeps, death?: DeathPoint): Mortal {
  const calls: string[] = [];
  let isDead = false;
  const live = (at: string) => {
    if (isDead) throw new Killed(at);
  };
  const call = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    live(name);
    const isHere = calls.push(name) - 1 === death?.call;
    isDead ||= isHere && death?.when === 'before';
    live(name);
    const result = await work();
    isDead ||= isHere && death?.when === 'after';
    live(name);
    return result;
  };
  const { db, provider } = deps;
  const dying: PaymentProvider = {
    ...provider,
    createCheckout: (checkout) => call('createCheckout', () => provider.createCheckout(checkout)),
    expireCheckout: (id) => call('expireCheckout', () => provider.expireCheckout(id)),
    readCheckout: (id) => call('readCheckout', () => provider.readCheckout(id)),
    readReversals: (id, price) => call('readReversals', () => provider.readReversals(id, price)),
    listFinishedCheckouts: (since) => each('listFinishedCheckouts', provider.listFinishedCheckouts(since)),
    listReversedPayments: (since) => each('listReversedPayments', provider.listReversedPayments(since)),
  };
  async function* each<T>(name: string, rows: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = rows[Symbol.asyncIterator]();
    for (;;) {
      const next = await call(name, () => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  }
  return {
    deps: {
      ...deps,
      provider: dying,
      db: {
        ...db,
        run: (statement, values) => call(statement.name, () => db.run(statement, values)),
        // A process that dies inside a transaction rolls it back.
        transaction: (work) =>
          call('transaction', () =>
            db.transaction((run) => work((statement, values) => call(statement.name, () => run(statement, values)))),
          ),
      },
    },
    calls,
    hasDied: () => isDead,
  };
}

/** Runs `story` with a death at each call of `work`, until one outlives it. Returns the calls of that one. */
export async function atEachAwait(
  deps: PaymentDeps,
  story: (dies: (work: (deps: PaymentDeps) => Promise<unknown>) => Promise<void>) => Promise<void>,
) {
  for (let call = 0; ; call += 1) {
    for (const when of ['before', 'after'] as const) {
      let survivor: readonly string[] | undefined;
      await story(async (work) => {
        const process = mortal(deps, { call, when });
        await work(process.deps).catch((error: unknown) => {
          if (!process.hasDied()) throw error;
        });
        if (!process.hasDied()) survivor = process.calls;
      });
      if (survivor !== undefined) return survivor;
    }
  }
}
