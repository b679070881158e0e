import type { Row } from '../row.ts';
import { fileRows } from './file.ts';
import { memoryRows } from './memory.ts';
import { quorumStoreRows } from './quorum-stores.ts';
import { redisRows } from './redis.ts';
import { redlockRows } from './redlock.ts';
import { sqlRows } from './sql.ts';
import { stockRows } from './stock.ts';

export const rows: readonly Row[] = [
  ...memoryRows,
  ...fileRows,
  ...redisRows,
  ...redlockRows,
  ...stockRows,
  ...sqlRows,
  ...quorumStoreRows,
];
