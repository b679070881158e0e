import { dynamodb } from '../../../src/backends/dynamodb/index.ts';
import { dynamoClient, startDynamo } from '../../kit/dynamodb.ts';
import { describeConformanceByProxy } from '../../kit/proxied.ts';
import { describeOn } from '../../kit/suite.ts';

describeOn('dynamodb', 'DynamoDB, by dynalite', () => {
  describeConformanceByProxy(
    { name: 'dynamodb', timing: { ttl: 1_000, tolerance: 350 } },
    () => startDynamo(),
    (port, prefix) => {
      const { client, end } = dynamoClient(port);
      return { backend: dynamodb(client, 'locks', { prefix }), end };
    },
  );
});
