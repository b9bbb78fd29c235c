// Operations that the service is about to have; each leaves this file once openapi.json names it.

export type PlannedReads = object;

export type PlannedSends = {
  readonly '/api/v1/callbacks/test': {
    readonly body: { readonly url: string };
    readonly answer: { readonly status: number | null };
  };
};
