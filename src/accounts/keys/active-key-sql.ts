/** SQL: a key is neither revoked nor expired. */
export const activeKeySql = 'revoked_at is null and (expires_at is null or expires_at > now())';
