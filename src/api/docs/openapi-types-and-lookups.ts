// The parts of an OpenAPI document that the reference shows. Any operation may be described, also one whose responses have no envelope.

export type OpenApiSchema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly OpenApiSchema[];
  readonly oneOf?: readonly OpenApiSchema[];
  readonly items?: OpenApiSchema;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: OpenApiSchema | boolean;
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

export type OpenApiParameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: OpenApiSchema;
};

export type OpenApiContent = Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;

export type OpenApiResponse = {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: OpenApiContent;
};

export type DescribedOperation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly content?: OpenApiContent };
  readonly responses?: Readonly<Record<string, OpenApiResponse>>;
};

export type OpenApiDescription = {
  readonly info: { readonly description?: string };
  readonly paths?: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, OpenApiSchema>>;
    readonly responses?: Readonly<Record<string, OpenApiResponse>>;
  };
};

/** A schema without references and without `null` among its alternatives. */
export type ResolvedSchema = {
  readonly schema: OpenApiSchema;
  readonly name?: string | undefined;
  readonly isNullable: boolean;
  /** The alternatives, if there are several. */
  readonly alternatives: readonly OpenApiSchema[];
};

export function resolveSchema(description: OpenApiDescription, schema: OpenApiSchema): ResolvedSchema {
  const name = schema.$ref?.split('/').at(-1);
  if (name !== undefined) {
    const found = description.components?.schemas?.[name];
    if (found === undefined) throw new Error(`the description lacks the schema ${name}`);
    const { description: own = found.description } = schema;
    const inner = own === undefined ? found : { ...found, description: own };
    return { ...resolveSchema(description, inner), name };
  }
  const types = [schema.type ?? []].flat();
  const listed = schema.anyOf ?? schema.oneOf ?? [];
  const alternatives = listed.filter(({ type }) => type !== 'null');
  const isNullable = types.includes('null') || alternatives.length < listed.length;
  const [only] = alternatives;
  if (alternatives.length === 1 && only !== undefined) {
    const inner = resolveSchema(
      description,
      schema.description === undefined ? only : { ...only, ...described(schema) },
    );
    return { ...inner, isNullable: isNullable || inner.isNullable };
  }
  return { schema, isNullable, alternatives };
}

function described({ description }: OpenApiSchema): Pick<OpenApiSchema, 'description'> {
  return description === undefined ? {} : { description };
}

export function resolveResponse({ components }: OpenApiDescription, response: OpenApiResponse): OpenApiResponse {
  const name = response.$ref?.split('/').at(-1);
  return name === undefined ? response : (components?.responses?.[name] ?? response);
}

type Success = { readonly status: string; readonly type: string; readonly schema: OpenApiSchema };

/** The first response with content that is no error. */
export function successResponseOf(
  description: OpenApiDescription,
  { responses = {} }: DescribedOperation,
): Success | undefined {
  const [status, response] = Object.entries(responses).find(([name]) => /^[23]/.test(name)) ?? [];
  const [type, schema] = typeAndSchemaOf(response && resolveResponse(description, response).content) ?? [];
  return status === undefined || type === undefined || schema === undefined ? undefined : { status, type, schema };
}

/** The type and schema of a body; JSON where there is a choice. */
export function typeAndSchemaOf(
  content: OpenApiContent = {},
): readonly [type: string, schema: OpenApiSchema] | undefined {
  const entries = Object.entries(content);
  const [type, media] = entries.find(([name]) => name.includes('json')) ?? entries[0] ?? [];
  return type === undefined ? undefined : [type, media?.schema ?? {}];
}
