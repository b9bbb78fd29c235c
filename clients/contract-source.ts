/** The part of JSON Schema that the service's own description uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
};

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
};

type Content = { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> };

export type Operation = {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
};

export type Description = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
};

/** Returns every `error` of every refusal. */
export function errorCodesOf({ components }: Description): readonly unknown[] {
  const codes = Object.values(components.responses).flatMap(({ content }) => {
    const schema = content?.['application/json']?.schema;
    return schema?.properties?.['error']?.enum ?? [];
  });
  return [...new Set(codes)].toSorted((a, b) => String(a).localeCompare(String(b)));
}

export function typeOf(name: string, schema: Schema): string {
  return `export type ${name} = ${written(schema)};`;
}

/**
 * Returns the named schemas that these refer to, directly or not, in the order
 * of the description.
 */
export function usedSchemas({ components: { schemas } }: Description, roots: unknown): readonly [string, Schema][] {
  const used = new Set<string>();
  const visit = (value: unknown) => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(found(schemas[name], name));
    }
  };
  visit(roots);
  return Object.entries(schemas).filter(([name]) => used.has(name));
}

export type Located = { readonly path: string; readonly method: string; readonly operation: Operation };

export function operationsOf({ paths }: Description): readonly Located[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

/** Returns an object with a property for each path. */
export function byPath(
  operations: readonly Located[],
  parts: (operation: Operation) => Readonly<Record<string, Schema>>,
): Schema {
  const entries = operations.map(({ path, operation }): [string, Schema] => {
    const properties = parts(operation);
    return [JSON.stringify(path), { type: 'object', properties, required: Object.keys(properties) }];
  });
  return { type: 'object', properties: Object.fromEntries(entries), required: entries.map(([path]) => path) };
}

/**
 * Returns the schema of `data` in a response. If it depends on the dialect, the
 * native one is returned, whose schemas have names.
 */
export function answerOf({ operationId, responses }: Operation): Schema {
  const answer = found(responses['200']?.content?.['application/json']?.schema.properties?.['data'], operationId);
  const isNamed = ({ $ref }: Schema) => $ref !== undefined;
  const native = answer.anyOf?.filter((one) => isNamed(one) || one.type === 'null') ?? [];
  return native.some(isNamed) ? { anyOf: native } : answer;
}

export function bodyOf({ requestBody }: Operation): Schema {
  return requestBody?.content?.['application/json']?.schema ?? { type: 'object' };
}

export function queryOf({ parameters = [] }: Operation): Schema {
  const query = parameters.filter((parameter) => parameter.in === 'query');
  const described = query.map(({ name, schema, description }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  return {
    type: 'object',
    // Object.fromEntries widens the type of the pairs: a parameter's name and
    // its schema.
    properties: Object.fromEntries(described) as Record<string, Schema>,
    required: query.filter(({ required }) => required === true).map(({ name }) => name),
  };
}

function written(schema: Schema): string {
  return alternatives(schema).join(' | ');
}

function alternatives(schema: Schema): readonly string[] {
  if (schema.$ref !== undefined) return [found(schema.$ref.split('/').at(-1), schema.$ref)];
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap(alternatives);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value));
  if (schema.allOf !== undefined) throw new Error('the description holds allOf, which has no counterpart yet');
  return [schema.type ?? []].flat().map((type) => plainType(type, schema));
}

function plainType(type: string, schema: Schema): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
      return type;
    case 'integer':
      return 'number';
    case 'array':
      return arrayType(alternatives(found(schema.items, 'items')));
    case 'object':
      return objectType(schema);
    default:
      throw new Error(`the description holds a type that has no counterpart yet: ${type}`);
  }
}

function arrayType(items: readonly string[]): string {
  return items.length === 1 ? `readonly ${items.join('')}[]` : `readonly (${items.join(' | ')})[]`;
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  if (typeof additionalProperties === 'object') {
    const values = Object.keys(additionalProperties).length === 0 ? 'unknown' : written(additionalProperties);
    return `Readonly<Record<string, ${values}>>`;
  }
  const lines = Object.entries(properties).map(([name, schema]) => property(name, schema, required.includes(name)));
  return ['{', ...lines, '}'].join('\n');
}

/**
 * Returns one property with its comment. An optional one may also be given as
 * undefined, which JSON leaves out.
 */
function property(name: string, schema: Schema, isRequired: boolean): string {
  const types = [...alternatives(schema), ...openEnd(name, schema), ...(isRequired ? [] : ['undefined'])];
  const line = `readonly ${name}${isRequired ? '' : '?'}: ${types.join(' | ')};`;
  return schema.description === undefined ? line : `/** ${schema.description} */\n${line}`;
}

/**
 * Installations have different models: those of the description are only the
 * built-in ones.
 */
function openEnd(name: string, schema: Schema): readonly string[] {
  return name === 'model' && schema.enum !== undefined ? ['(string & {})'] : [];
}

export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the description lacks ${what}`);
  return value;
}
