const program = process.env['VIDEOGEN_TEST_PROMTOOL'];

/** The path of Prometheus' own checker of rules and metrics. Without it, what needs it is skipped (.ci/run). */
export const promtool = program ?? 'promtool';

export const skipsWithoutPromtool =
  program === undefined ? 'VIDEOGEN_TEST_PROMTOOL names no promtool, so no rule was tried' : false;
