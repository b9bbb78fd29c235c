// The schema of the example in a file that describes a job API.

export const permanentErrorKinds = ['content', 'image', 'input', 'upstream'] as const;
export const temporaryErrorKinds = ['busy', 'overloaded', 'operator'] as const;
