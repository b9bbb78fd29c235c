export const maxJsonBodyBytes = 256 * 1024;
/** The filter of a list by a hundred ids fits into this length. */
export const maxUrlLength = 8192;
export const maxHeaderBytes = 16 * 1024;
