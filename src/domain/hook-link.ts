import { createSigner } from './signature.ts';

// The addresses at which upstreams announce that a job has changed. Each holds which call for a job is meant, signed, so nobody can
// guess one, and nothing has to be looked up to refuse a wrong one.

/** A call for a job of a task. */
export type HintedCall = { readonly taskId: string; readonly ordinal: number };

export type HookLinks = ReturnType<typeof createHookLinks>;

/** Before the token of a call. */
export const hookPath = '/hooks/';

type HookLinkOptions = {
  readonly secret: string;
  readonly secretPrevious?: readonly string[] | undefined;
  readonly publicUrl: string;
};

/** `publicUrl` has no slash at its end. */
export function createHookLinks({ secret, secretPrevious, publicUrl }: HookLinkOptions) {
  const signer = createSigner(secret, 'videogen hooks of upstreams, version 1', secretPrevious);
  return {
    urlOf: ({ taskId, ordinal }: HintedCall): string => {
      const call = `${taskId}.${ordinal}`;
      return `${publicUrl}${hookPath}${call}.${signer.sign(call)}`;
    },
    /** Undefined for a token that we have not made. */
    callOf: (token: string): HintedCall | undefined => {
      const [, call = '', taskId = '', ordinal, signature = ''] = tokenShape.exec(token) ?? [];
      return signer.isSigned(call, signature) ? { taskId, ordinal: Number(ordinal) } : undefined;
    },
  };
}

const tokenShape = /^(([0-9a-f-]{36})\.(\d{1,4}))\.([\w-]{43})$/;
