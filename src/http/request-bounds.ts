// What a request may measure. The error catalogue names these bounds.

/** The largest body that any endpoint reads. */
export const maxBodyBytes = 256 * 1024;
/** Far above the longest address we give out. */
export const maxUrlLength = 4096;
/** Far above what clients and the proxies before us send. */
export const maxHeaders = 100;
export const maxHeaderBytes = 16 * 1024;
