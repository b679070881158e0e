export type { S3Like } from './backend.ts';
export { s3 } from './backend.ts';
