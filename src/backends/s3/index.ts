export { s3 } from './backend.ts';
export type { S3Like } from './client.ts';
