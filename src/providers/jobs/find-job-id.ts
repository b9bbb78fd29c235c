import { isObject, type JsonObject, type JsonValue } from '../../platform/text/json.ts';

// Relays of other APIs name the id of a job after them, write it as a number, or wrap the record of the job in another object.

const ownNames = withCamelCase(['task_id', 'generation_id', 'video_id', 'job_id', 'prediction_id']);
/** Beside another id this one is that of the request. */
const requestNames = withCamelCase(['request_id']);
const wrappers = ['data', 'result', 'task', 'video', 'job', 'output'] as const;

function withCamelCase(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [name, name.replace('_id', 'Id')]);
}

export type FoundId = {
  readonly id: string;
  /** Such as `data.task_id`. */
  readonly name: string;
  /** The fields of the record, and those of the object around it. */
  readonly record: JsonObject;
};

/** Finds the id of a job in the response to its create, or in its record. */
export function findJobId(body: JsonObject): FoundId | undefined {
  return (
    idIn(body, ['id', ...ownNames, 'uuid']) ??
    wrappers.map((wrapper) => wrappedIdIn(body, wrapper)).find((found) => found !== undefined) ??
    idIn(body, requestNames)
  );
}

function wrappedIdIn(body: JsonObject, wrapper: string): FoundId | undefined {
  const inner = body[wrapper];
  if (!isObject(inner)) return undefined;
  const found = idIn(inner, ['id', ...ownNames, 'uuid', ...requestNames]);
  return found && { id: found.id, name: `${wrapper}.${found.name}`, record: { ...body, ...inner } };
}

function idIn(record: JsonObject, names: readonly string[]): FoundId | undefined {
  for (const name of names) {
    const id = textOf(record[name]);
    if (id !== undefined) return { id, name, record };
  }
  return undefined;
}

function textOf(id: JsonValue | undefined): string | undefined {
  if (typeof id === 'number' && Number.isSafeInteger(id)) return String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Returns a function that informs operators once that the ids of an upstream's jobs have another name. */
export function createIdNameWarning(
  warn: (message: string, detail: string) => void,
): (found: FoundId | undefined) => void {
  let isReported = false;
  return (found) => {
    if (found === undefined || found.name === 'id' || isReported) return;
    isReported = true;
    warn('job id found under another name', found.name);
  };
}
