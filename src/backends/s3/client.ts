/** What holdfast uses of `S3` of `@aws-sdk/client-s3`, 3.705 or later. It does not import the SDK. */
export interface S3Like {
  getObject(
    input: S3Key,
    options?: S3Signal,
  ): Promise<{ Body?: { transformToString(): Promise<string> } | undefined; ETag?: string | undefined }>;
  putObject(
    input: S3Key & { Body: string; ContentType: string; IfMatch?: string; IfNoneMatch?: string },
    options?: S3Signal,
  ): Promise<{ ETag?: string | undefined }>;
  deleteObject(input: S3Key): Promise<unknown>;
  listObjectsV2(input: { Bucket: string; Prefix: string; ContinuationToken?: string | undefined }): Promise<{
    Contents?: readonly { Key?: string | undefined }[] | undefined;
    NextContinuationToken?: string | undefined;
  }>;
}

/** Which object of which bucket. */
interface S3Key {
  Bucket: string;
  Key: string;
}

/** What ends a request that nobody waits for any more. */
interface S3Signal {
  abortSignal: AbortSignal;
}
