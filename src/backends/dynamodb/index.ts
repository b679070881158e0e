export { type DynamoLike, dynamodb } from './backend.ts';
