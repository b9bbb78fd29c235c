import type { Database } from '../../src/stores/database.ts';

/** A database that answers `/readyz` once `gate` resolves, and everything else as it is asked. */
export function heldReadiness(db: Database, gate: () => Promise<unknown>): Database {
  return {
    ...db,
    run: async (statement, values) => {
      if (statement.name === 'ready') await gate();
      return db.run(statement, values);
    },
  };
}
