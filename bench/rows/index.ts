import type { Row } from '../row.ts';
import { rowsOfOthers } from './engines.ts';
import { fileRows } from './file.ts';
import { memoryRows } from './memory.ts';
import { redisRows } from './redis.ts';
import { redlockRows } from './redlock.ts';
import { sqlRows } from './sql.ts';
import { stockRows } from './stock.ts';

const own: readonly Row[] = [...memoryRows, ...fileRows, ...redisRows, ...redlockRows, ...stockRows, ...sqlRows];

export const rows: readonly Row[] = [...own, ...rowsOfOthers(own)];
