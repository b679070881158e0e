export { type S3Like, s3 } from './backend.ts';
