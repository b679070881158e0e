import { dynamodb } from 'holdfast/dynamodb';
import { s3 } from 'holdfast/s3';
import { fromOldest } from './oldest.mjs';

export async function open({ client: name, url, oldest }) {
  const load = oldest ? fromOldest : (name) => import(name);
  const { hostname, searchParams } = new URL(url);
  const options = {
    region: 'us-east-1',
    endpoint: searchParams.get('endpoint'),
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  };
  const make = await OPENERS[name](load, options);
  return {
    async backend(prefix) {
      const { backend, client } = make(hostname, prefix);
      return { backend, end: () => client.destroy() };
    },
  };
}

const OPENERS = {
  async s3(load, options) {
    const { S3 } = await load('@aws-sdk/client-s3');
    return (bucket, prefix) => {
      const client = new S3({ ...options, forcePathStyle: true });
      return { client, backend: s3(client, bucket, { prefix }) };
    };
  },
  async dynamodb(load, options) {
    const { DynamoDB } = await load('@aws-sdk/client-dynamodb');
    const { DynamoDBDocument } = await load('@aws-sdk/lib-dynamodb');
    return (table, prefix) => {
      const client = new DynamoDB(options);
      return { client, backend: dynamodb(DynamoDBDocument.from(client), table, { prefix }) };
    };
  },
};
