// The parts of an OpenAPI document that the reference shows. Any operation may be described, also one whose responses have no envelope.

export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
};

export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
};

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

export type Response = { readonly $ref?: string; readonly description?: string; readonly content?: Content };

export type DescribedOperation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content?: Content };
  readonly responses?: Readonly<Record<string, Response>>;
};

export type Description = {
  readonly info: { readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
};

/** A schema without references and without `null` among its alternatives. */
export type Resolved = {
  readonly schema: Schema;
  readonly name?: string | undefined;
  readonly isNullable: boolean;
  /** The alternatives, if there are several. */
  readonly alternatives: readonly Schema[];
};

export function resolve(description: Description, schema: Schema): Resolved {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    const found = description.components?.schemas?.[name];
    if (found === undefined) throw new Error(`the description lacks the schema ${name}`);
    const { description: own = found.description } = schema;
    const inner = own === undefined ? found : { ...found, description: own };
    return { ...resolve(description, inner), name };
  }
  const types = [schema.type ?? []].flat();
  const listed = schema.anyOf ?? schema.oneOf ?? [];
  const alternatives = listed.filter(({ type }) => type !== 'null');
  const isNullable = types.includes('null') || alternatives.length < listed.length;
  const [only] = alternatives;
  if (alternatives.length === 1 && only !== undefined) {
    const inner = resolve(description, schema.description === undefined ? only : { ...only, ...described(schema) });
    return { ...inner, isNullable: isNullable || inner.isNullable };
  }
  return { schema, isNullable, alternatives };
}

function described({ description }: Schema): Pick<Schema, 'description'> {
  return description === undefined ? {} : { description };
}

export function resolveResponse({ components }: Description, response: Response): Response {
  const name = response.$ref?.split('/').at(-1);
  return name === undefined ? response : (components?.responses?.[name] ?? response);
}

type Success = { readonly status: string; readonly type: string; readonly schema: Schema };

/** The first response with content that is no error. */
export function successOf(description: Description, { responses = {} }: DescribedOperation): Success | undefined {
  const [status, response] = Object.entries(responses).find(([name]) => /^[23]/.test(name)) ?? [];
  const [type, schema] = contentOf(response && resolveResponse(description, response).content) ?? [];
  return status === undefined || type === undefined || schema === undefined ? undefined : { status, type, schema };
}

/** The type and schema of a body; JSON where there is a choice. */
export function contentOf(content: Content = {}): readonly [type: string, schema: Schema] | undefined {
  const entries = Object.entries(content);
  const [type, media] = entries.find(([name]) => name.includes('json')) ?? entries[0] ?? [];
  return type === undefined ? undefined : [type, media?.schema ?? {}];
}
