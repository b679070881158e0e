import type { Row } from '../row.ts';
import { fileRows } from './file.ts';
import { memoryRows } from './memory.ts';
import { redisRows } from './redis.ts';

export const rows: readonly Row[] = [...memoryRows, ...fileRows, ...redisRows];
