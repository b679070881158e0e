import { invalid } from '../../core/index.ts';
import { driver, type EngineUrl, openEngine } from '../engine.ts';
import type { Address } from '../url.ts';

export const s3Url: EngineUrl = {
  schemes: ['s3'],
  example: 's3://bucket/prefix?region=eu-central-1',
  params: ['endpoint', 'region'],
  async open(address) {
    const { S3 } = await driver('@aws-sdk/client-s3');
    const { s3 } = await import('../../backends/s3/index.ts');
    const client = new S3({ ...awsOptions(address), forcePathStyle: address.params.has('endpoint') });
    return openEngine(address, s3(client, nameIn(address, 'bucket'), prefixOf(address)), () => client.destroy());
  },
};

/** If the address has no credentials, the SDK takes those of the environment, a profile or the machine. */
function awsOptions({ user, password, params }: Address): object {
  const [endpoint, region] = [params.get('endpoint'), params.get('region')];
  return {
    ...(endpoint && { endpoint }),
    ...(region && { region }),
    ...(user && { credentials: { accessKeyId: user, secretAccessKey: password ?? '' } }),
  };
}

/** @throws LockError `LOCK_INVALID` */
function nameIn({ scheme, hosts }: Address, what: string): string {
  const [first, ...others] = hosts;
  if (first && others.length === 0 && first.port === undefined) return first.host;
  throw invalid(`${scheme}: names one ${what}, as in ${scheme}://my-${what}?region=eu-central-1`);
}

const prefixOf = ({ path }: Address): { prefix?: string } => {
  const prefix = path.replace(/\/$/, '');
  return prefix === '' ? {} : { prefix };
};

export const dynamodbUrl: EngineUrl = {
  schemes: ['dynamodb'],
  example: 'dynamodb://table/prefix?region=eu-central-1',
  params: ['endpoint', 'region'],
  async open(address) {
    const { DynamoDB } = await driver('@aws-sdk/client-dynamodb');
    const { DynamoDBDocument } = await driver('@aws-sdk/lib-dynamodb');
    const { dynamodb } = await import('../../backends/dynamodb/index.ts');
    const client = new DynamoDB(awsOptions(address));
    const backend = dynamodb(DynamoDBDocument.from(client), nameIn(address, 'table'), prefixOf(address));
    return openEngine(address, backend, () => client.destroy());
  },
};
