/** The key of an `Authorization` header; undefined without one. The scheme's case does not count (RFC 9110, section 11.1). */
export function bearerToken(header: string): string | undefined {
  return /^bearer +([\x21-\x7e]{1,256})$/i.exec(header)?.[1];
}
