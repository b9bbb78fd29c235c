/** The Python that has the packages of upstreams; .ci/run makes one. */
export const python = process.env['VIDEOGEN_TEST_PYTHON'] ?? 'python3';
