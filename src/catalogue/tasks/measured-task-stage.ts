/**
 * The stages of a task: its acceptance; its wait, from the acceptance until its generation begins; the generation, over all attempts;
 * the check and storing of the video; and the statement that ends the task.
 */
export type MeasuredTaskStage = 'accept' | 'queue_wait' | 'generation' | 'store' | 'end';
