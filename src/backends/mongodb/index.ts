export { mongodb } from './backend.ts';
export type { MongoCollection, MongoDb, MongoStream } from './driver.ts';
export type { MongoOptions } from './options.ts';
