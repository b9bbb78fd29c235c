import type { JsonObject } from '../../platform/text/json.ts';
import { z } from 'zod';
import { findNearestName } from '../../platform/text/did-you-mean.ts';
import { jsonObjectIn, detailOfAnswerOrError, answerOrErrorOf, storableText } from '../classify-upstream-answers.ts';
import type { UpstreamClient } from '../provider-contract.ts';

/** The inputs that each class of nodes requires. The Comfy API v2 does not list its classes. */
export type NodeClasses = ReadonlyMap<string, readonly string[]>;

/** A server with many custom nodes returns megabytes, and reads the folders of all its models for them. */
const [timeoutMs, maxBytes] = [30_000, 64 * 1024 * 1024];

export async function readNodeClasses(client: Pick<UpstreamClient, 'call'>, signal: AbortSignal): Promise<NodeClasses> {
  const reply = await answerOrErrorOf(client.call('GET', '/object_info', { timeoutMs, maxBytes, signal }));
  const body = 'answer' in reply && reply.answer.status === 200 ? jsonObjectIn(reply.answer) : undefined;
  if (body === undefined) throw new Error(storableText(detailOfAnswerOrError(reply), 300));
  return new Map(Object.entries(body).map(([name, info]) => [name, requiredOf(info)]));
}

const infoSchema = z.object({ input: z.object({ required: z.record(z.string(), z.unknown()) }) });

function requiredOf(info: unknown): readonly string[] {
  return Object.keys(infoSchema.safeParse(info).data?.input.required ?? {});
}

export type WorkflowFindings = {
  /** With one of these the server refuses every task. */
  readonly problems: readonly string[];
  /** With these it may refuse them: some nodes accept other names of inputs than they list. */
  readonly warnings: readonly string[];
};

const nodeSchema = z.object({ class_type: z.string(), inputs: z.record(z.string(), z.unknown()).catch({}) });

/** Ignores inputs that no class has, because editors export some of their own. */
export function compareWorkflow(workflow: JsonObject, classes: NodeClasses): WorkflowFindings {
  const [problems, warnings]: [string[], string[]] = [[], []];
  for (const [id, node] of Object.entries(workflow)) {
    const { class_type: name, inputs } = nodeSchema.parse(node);
    const required = classes.get(name);
    if (required === undefined)
      problems.push(`node ${id}: the server has no class ${name}${meant(name, [...classes.keys()])}`);
    for (const input of required ?? []) {
      const given = Object.keys(inputs);
      // Inputs that a node multiplies are `image.1`, `image.2`.
      if (given.some((one) => one === input || one.startsWith(`${input}.`))) continue;
      warnings.push(`node ${id}: ${name} needs the input ${input}${meant(input, given)}`);
    }
  }
  return { problems, warnings };
}

function meant(name: string, known: readonly string[]): string {
  const near = findNearestName(name, known);
  return near === undefined ? '' : `, did you mean ${near}?`;
}
