import { driver } from '../driver.ts';
import { type EngineUrl, openEngine } from '../engine.ts';
import { awsOptions, nameIn, prefixOf } from './s3.ts';

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
