export type StoreLocation = FolderLocation | BucketLocation;
export type FolderLocation = { readonly kind: 'folder'; readonly path: string };
export type BucketLocation = {
  readonly kind: 'bucket';
  readonly bucket: string;
  /** Before every key; empty, or with `/` at its end. */
  readonly prefix: string;
};

const bucketUrl = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}){0,4})\/?$/;

/** `s3://bucket/prefix`, or the path of a folder. Throws for any other address. */
export function parseStoreLocation(text: string): StoreLocation {
  const [, bucket, prefix = ''] = bucketUrl.exec(text) ?? [];
  if (bucket !== undefined) return { kind: 'bucket', bucket, prefix: prefix === '' ? '' : `${prefix.slice(1)}/` };
  if (!text.includes('://')) return { kind: 'folder', path: text };
  throw new Error(
    'must be a folder, or s3://BUCKET or s3://BUCKET/PREFIX with letters, digits, dots, dashes and underscores',
  );
}

export function nameOfStore(location: StoreLocation): string {
  return location.kind === 'folder' ? location.path : `s3://${location.bucket}/${location.prefix}`.replace(/\/$/, '');
}

/** The settings that all buckets share. */
export type S3Config = {
  readonly s3Endpoint?: string | undefined;
  readonly s3Region?: string | undefined;
  readonly s3PathStyle?: boolean | undefined;
};

/** The origins from which a browser loads the files of a bucket, for the Content-Security-Policy; none for a folder, which we serve. */
export function originsOfStore(location: StoreLocation, address: S3Config): string[] {
  if (location.kind === 'folder') return [];
  const { s3Endpoint, s3Region, s3PathStyle = s3Endpoint !== undefined } = address;
  // The SDK finds the region elsewhere then.
  if (s3Endpoint === undefined && s3Region === undefined) return ['https://*.amazonaws.com'];
  const { protocol, host } = new URL(s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`);
  return [`${protocol}//${s3PathStyle ? '' : `${location.bucket}.`}${host}`];
}
