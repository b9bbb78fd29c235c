// The kinds of errors that a file which describes a job API can name.

export const permanentErrorKinds = ['content', 'image', 'input', 'upstream'] as const;
export const temporaryErrorKinds = ['busy', 'overloaded', 'operator'] as const;
