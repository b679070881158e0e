export { dynamodb } from './backend.ts';
export type { DynamoLike } from './client.ts';
