/** The Python that has the packages of upstreams; ops/ci/provision.sh makes one. */
export const python = process.env['VIDEOGEN_TEST_PYTHON'] ?? 'python3';
