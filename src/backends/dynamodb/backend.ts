import { type Backend, invalid, LockError, reasonOf, systemClock } from '../../core/index.ts';
import { type RegisterEntry, type RegisterOptions, type RegisterStore, register } from '../register/index.ts';

/** What holdfast uses of `DynamoDBDocument` of `@aws-sdk/lib-dynamodb`. holdfast does not import the SDK. */
export interface DynamoLike {
  get(
    input: DynamoKey & { ConsistentRead: true },
    options?: { abortSignal: AbortSignal },
  ): Promise<{ Item?: Item | undefined }>;
  put(
    input: {
      TableName: string;
      Item: Item;
      ConditionExpression: string;
      ExpressionAttributeValues?: Item;
      ExpressionAttributeNames: Record<string, string>;
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD';
    },
    options?: { abortSignal: AbortSignal },
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
/**
 * Locks in a table of DynamoDB whose partition key is the string `id`, without a sort key. `close` leaves the client open.
 * @throws LockError `LOCK_INVALID` when `client` is no document client, or for a bad option.
 * @example
 * import { DynamoDB } from '@aws-sdk/client-dynamodb';
 * import { DynamoDBDocument } from '@aws-sdk/lib-dynamodb';
 * const locks = createLocks(dynamodb(DynamoDBDocument.from(new DynamoDB({})), 'locks'));
 */
export function dynamodb(client: DynamoLike, table: string, options: RegisterOptions = {}): Backend {
  if (typeof client?.put !== 'function') throw invalid('dynamodb() needs a DynamoDBDocument of @aws-sdk/lib-dynamodb');
  if (typeof table !== 'string' || table === '') throw invalid('dynamodb() needs the name of a table');
  return register(storeOf(client, table), options);
}

const storeOf = (client: DynamoLike, TableName: string): RegisterStore => ({
  name: 'dynamodb',
  minTtl: 500,
  spin: { pause: 50, bound: 2_000 },
  tellsConflicts: true,
  async read(id, abortSignal) {
    const key = { TableName, Key: { id }, ConsistentRead: true } as const;
    return entryOf((await client.get(key, { abortSignal }).catch(definiteRefusal(TableName))).Item) ?? {};
  },
  async write(id, text, ifVersion, abortSignal) {
    const version = systemClock.id();
    const isThere = ifVersion !== undefined;
    const input = {
      TableName,
      Item: { id, text, version },
      ConditionExpression: isThere ? '#v = :v' : 'attribute_not_exists(#v)',
      // `attribute_not_exists` tests the id, since an item of another program has no version, and must not be overwritten.
      ExpressionAttributeNames: { '#v': isThere ? 'version' : 'id' },
      ...(isThere && { ExpressionAttributeValues: { ':v': ifVersion } }),
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    };
    try {
      await client.put(input, { abortSignal });
      return version;
    } catch (error) {
      const { name, Item } = error as { name?: string; Item?: Item };
      if (name === 'ConditionalCheckFailedException') return entryOf(Item) ?? false;
      return definiteRefusal(TableName)(error);
    }
  },
  async *list(prefix) {
    for (let ExclusiveStartKey: Item | undefined; ; ) {
      const input = { TableName, ProjectionExpression: 'id', ExclusiveStartKey } as const;
      const { Items = [], LastEvaluatedKey } = await client.scan(input).catch(definiteRefusal(TableName));
      for (const { id } of Items) if (String(id).startsWith(prefix)) yield id;
      ExclusiveStartKey = LastEvaluatedKey;
      if (ExclusiveStartKey === undefined) return;
    }
  },
  async remove(id) {
    await client.delete({ TableName, Key: { id } }).catch(definiteRefusal(TableName));
  },
});

/** In an error, each value of the item is wrapped in its type: `{ S: 'text' }`. An item of another program has no text, and is refused later. */
function entryOf(item: Item | undefined): RegisterEntry | undefined {
  const of = (value: { S?: string } | string | undefined) => (typeof value === 'object' ? value.S : value);
  return item && { text: of(item.text) ?? '', version: of(item.version) ?? '' };
}

const ADVICE: Readonly<Record<string, string>> = {
  ResourceNotFoundException: 'make it first, with the string id as its partition key and no sort key',
  ValidationException: 'its partition key must be the string id, and it must have no sort key',
  AccessDeniedException: 'dynamodb:GetItem and dynamodb:PutItem are needed; DeleteItem and Scan for hints and listings',
  UnrecognizedClientException: 'the access key of the client is not known there',
};

/** @throws always: a `LockError` if DynamoDB has surely done nothing, else the error itself */
const definiteRefusal =
  (table: string) =>
  (cause: unknown): never => {
    const name = (cause as { name?: string }).name ?? '';
    const advice = ADVICE[name];
    if (advice === undefined) throw cause;
    const code = name === 'ValidationException' ? 'LOCK_INVALID' : 'LOCK_UNAVAILABLE';
    const message = `the table ${table} refused: ${reasonOf(cause)}; ${advice}`;
    throw new LockError(code, message, { backend: 'dynamodb', cause });
  };
