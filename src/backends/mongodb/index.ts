export { type MongoOptions, mongodb } from './backend.ts';
export type { MongoCollection, MongoDb, MongoStream } from './driver.ts';
