import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { startCheckIdleMs, createS3Client, callBucketAllowingMissing, callBucket } from './s3-client-and-errors.ts';
import type { BucketOptions } from './s3-files.ts';

/** The marker of a bucket, or of a prefix in it, which other installations may share. */
export function createS3Marker({ location, s3 }: BucketOptions, name: string) {
  const object = { Bucket: location.bucket, Key: `${location.prefix}${name}` };
  const withClient = async <T>(work: (client: ReturnType<typeof createS3Client>) => Promise<T>): Promise<T> => {
    const client = createS3Client({ ...s3, idleMs: startCheckIdleMs });
    return await work(client).finally(() => client.destroy());
  };
  return {
    read: () =>
      withClient(async (client) => {
        const found = await callBucketAllowingMissing(location, 'get', () => client.send(new GetObjectCommand(object)));
        return (await found?.Body?.transformToString())?.trim();
      }),
    write: (installationId: string) =>
      withClient(async (client) => {
        await callBucket(location, 'put', () => client.send(new PutObjectCommand({ ...object, Body: installationId })));
      }),
  };
}
