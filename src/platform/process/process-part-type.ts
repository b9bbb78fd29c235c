/** The parts of a process; `npm start` has both. */
export type PartName = 'api' | 'worker';
