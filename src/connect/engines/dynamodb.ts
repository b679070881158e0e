import { driver } from '../driver.ts';
import { type EngineUrl, opened } from '../engine.ts';
import { awsOptions, named, prefixOf } from './s3.ts';

export const dynamodbUrl: EngineUrl = {
  schemes: ['dynamodb'],
  example: 'dynamodb://table/prefix?region=eu-central-1',
  params: ['endpoint', 'region'],
  async open(address) {
    const { DynamoDB } = await driver('@aws-sdk/client-dynamodb');
    const { DynamoDBDocument } = await driver('@aws-sdk/lib-dynamodb');
    const { dynamodb } = await import('../../backends/dynamodb/index.ts');
    const client = new DynamoDB(awsOptions(address));
    const backend = dynamodb(DynamoDBDocument.from(client), named(address, 'table'), prefixOf(address));
    return opened(address, backend, () => client.destroy());
  },
};
