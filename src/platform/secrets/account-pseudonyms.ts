import { createHmac } from 'node:crypto';

type Secrets = { readonly secret: string; readonly secretPrevious?: readonly string[] | undefined };

/**
 * Returns a function that makes the pseudonyms of an account: the current one, which creates send, and those of the previous secrets, by which
 * the jobs of creates from before a rotation are found.
 */
export function createAccountPseudonymizer({ secret, secretPrevious = [] }: Secrets) {
  const hash = (key: string, accountId: string) =>
    createHmac('sha256', key).update(`account ${accountId}`).digest('hex');
  return (accountId: string): readonly [current: string, ...previous: string[]] => [
    hash(secret, accountId),
    ...secretPrevious.map((key) => hash(key, accountId)),
  ];
}
