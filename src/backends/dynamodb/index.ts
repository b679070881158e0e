export type { DynamoLike } from './backend.ts';
export { dynamodb } from './backend.ts';
