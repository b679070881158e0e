import { type Backend, invalid, LockError, reasonOf } from '../../core/index.ts';
import { Throttled } from '../register/calls.ts';
import { type RegisterOptions, type RegisterStore, register } from '../register/index.ts';

/** What holdfast uses of `S3` of `@aws-sdk/client-s3`, 3.705 or later. It does not import the SDK. */
export interface S3Like {
  getObject(
    input: S3Key,
    options?: { abortSignal: AbortSignal },
  ): Promise<{ Body?: { transformToString(): Promise<string> } | undefined; ETag?: string | undefined }>;
  putObject(
    input: S3Key & { Body: string; ContentType: string; IfMatch?: string; IfNoneMatch?: string },
    options?: { abortSignal: AbortSignal },
  ): Promise<{ ETag?: string | undefined }>;
  deleteObject(input: S3Key): Promise<unknown>;
  listObjectsV2(input: { Bucket: string; Prefix: string; ContinuationToken?: string | undefined }): Promise<{
    Contents?: readonly { Key?: string | undefined }[] | undefined;
    NextContinuationToken?: string | undefined;
  }>;
}

interface S3Key {
  Bucket: string;
  Key: string;
}

/**
 * Locks in a bucket of S3, or of another store with the same protocol that keeps the conditions of a write. The caller closes the client.
 * @throws LockError `LOCK_INVALID` when `client` is no client, or for a bad option.
 * @example
 * import { S3 } from '@aws-sdk/client-s3';
 * const locks = createLocks(s3(new S3({}), 'my-bucket'));
 */
export function s3(client: S3Like, bucket: string, options: RegisterOptions = {}): Backend {
  if (typeof client?.putObject !== 'function') throw invalid('s3() needs a client: new S3({}) of @aws-sdk/client-s3');
  if (typeof bucket !== 'string' || bucket === '') throw invalid('s3() needs the name of a bucket');
  return register(storeOf(client, bucket), options);
}

const storeOf = (client: S3Like, Bucket: string): RegisterStore => ({
  name: 's3',
  minTtl: 1_000,
  imitated: true,
  spin: { pause: 100, bound: 5_000 },
  async read(Key, abortSignal) {
    const found = await client.getObject({ Bucket, Key }, { abortSignal }).catch(unless(404, Bucket));
    return found && { text: await found.Body?.transformToString(), version: found.ETag };
  },
  async write(Key, Body, version, abortSignal) {
    const condition = version === undefined ? { IfNoneMatch: '*' } : { IfMatch: version };
    const input = { Bucket, Key, Body, ContentType: 'application/json', ...condition };
    try {
      // 404: the object with that version is gone. 409: another write of the object is under way.
      const written = await client.putObject(input, { abortSignal }).catch(unless(412, Bucket, 409, 404));
      return written !== undefined && (written.ETag ?? true);
    } catch (error) {
      throw statusOf(error) === 429 || (error as Error).name === 'SlowDown' ? new Throttled(reasonOf(error)) : error;
    }
  },
  async *list(Prefix) {
    for (let ContinuationToken: string | undefined; ; ) {
      const page = await client.listObjectsV2({ Bucket, Prefix, ContinuationToken }).catch(unless(0, Bucket));
      for (const { Key } of page?.Contents ?? []) if (Key !== undefined) yield Key;
      ContinuationToken = page?.NextContinuationToken;
      if (ContinuationToken === undefined) return;
    }
  },
  async remove(Key) {
    const removed = client.deleteObject({ Bucket, Key }).catch(async (error) => {
      if (statusOf(error) !== 403) throw error;
      // The bucket's policy may require a condition here. Not every store knows that, so it is sent only after a 403. 412: another process has written since.
      const { ETag } = await client.getObject({ Bucket, Key }, { abortSignal: new AbortController().signal });
      await client.deleteObject(Object.assign({ Bucket, Key }, { IfMatch: ETag })).catch(unless(404, Bucket, 412));
    });
    await removed.catch(unless(404, Bucket));
  },
});

const ADVICE: Readonly<Record<number, string>> = {
  403: 'the rights s3:GetObject and s3:PutObject are needed on the prefix, and s3:ListBucket on the bucket: without that, S3 says 403 for an object that is not there',
  301: 'the bucket is in another region than the client',
  501: 'this store does not know conditional writes, and locks need them',
};

const statusOf = (error: unknown): number =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;

/** @returns undefined for these statuses. @throws the error for others: a `LockError` if the store has surely done nothing */
const unless =
  (...[status, bucket, ...more]: [number, string, ...number[]]) =>
  (error: unknown): undefined => {
    const answer = statusOf(error);
    const advice =
      (error as Error).name === 'NoSuchBucket' ? 'make it first, in the region of the client' : ADVICE[answer];
    if (advice === undefined && answer > 0 && [status, ...more].includes(answer)) return undefined;
    if (advice === undefined) throw error;
    const message = `the bucket ${bucket} refused: ${reasonOf(error)}; ${advice}`;
    throw new LockError('LOCK_UNAVAILABLE', message, { backend: 's3', cause: error });
  };
