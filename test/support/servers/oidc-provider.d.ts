// The part of oidc-provider, which has no types of its own, that the tests use.
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  type Grant = { addOIDCScope(scope: string): void; save(): Promise<string> };
  type Oidc = {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: Provider;
  };

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant;
    callback(): (req: IncomingMessage, res: ServerResponse) => void;
    interactionFinished(req: IncomingMessage, res: ServerResponse, result: unknown): Promise<void>;
  }
  export type Context = { readonly oidc: Oidc };
}
