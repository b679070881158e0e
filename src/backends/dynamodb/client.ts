/** What holdfast uses of `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`. It does not import the SDK. */
export interface DynamoLike {
  get(input: DynamoKey & { ConsistentRead: true }, options?: DynamoSignal): Promise<{ Item?: Item | undefined }>;
  put(
    input: {
      TableName: string;
      Item: Item;
      ConditionExpression: string;
      ExpressionAttributeValues?: Item;
      ExpressionAttributeNames: Record<string, string>;
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
    },
    options?: DynamoSignal,
  ): Promise<unknown>;
  delete(input: DynamoKey): Promise<unknown>;
  scan(input: { TableName: string; ProjectionExpression: 'id'; ExclusiveStartKey?: Item | undefined }): Promise<{
    Items?: readonly Item[] | undefined;
    LastEvaluatedKey?: Item | undefined;
  }>;
}

// biome-ignore lint/suspicious/noExplicitAny: the driver's own type of an item
export type Item = Record<string, any>;
interface DynamoKey {
  TableName: string;
  Key: { id: string };
}
interface DynamoSignal {
  abortSignal: AbortSignal;
}
