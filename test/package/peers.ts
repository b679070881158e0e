/** Programs that installed the package beside peers, and use both. Each prints what it has seen; its argument is the engine's URL. */
const TURNS = `
import { createLocks } from 'holdfast';
const url = process.argv[2];
/** Three callers, one key: their tokens have to grow, and no two may be inside. */
async function turns(name, backend) {
  const locks = createLocks(backend);
  const tokens = [];
  let inside = 0;
  const section = async ({ token }) => {
    if (++inside > 1) throw new Error('two are inside');
    tokens.push(token);
    await new Promise((resolve) => setTimeout(resolve, 5));
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => locks.mutex('order').run(section, { wait: '10s' })));
  await locks.close();
  if (!tokens.every((token, i) => i === 0 || token > tokens[i - 1])) throw new Error('the tokens do not grow: ' + tokens);
  console.log(name + ': ' + tokens.length + ' in turn');
}
`;

export const redis = `${TURNS}
import Redis from 'ioredis';
import { createClient } from 'redis';
import { redis } from 'holdfast/redis';
const first = new Redis(url);
await turns('ioredis', redis(first));
first.disconnect();
const second = createClient({ url });
await second.connect();
await turns('node-redis', redis(second));
second.destroy();
`;

export const postgres = `${TURNS}
import pg from 'pg';
import porsager from 'postgres';
import { postgres } from 'holdfast/postgres';
const pool = new pg.Pool({ connectionString: url });
await turns('pg', postgres(pool));
await pool.end();
const sql = porsager(url, { onnotice: () => {} });
await turns('postgres.js', postgres(sql));
await sql.end();
`;

export const mysql = `${TURNS}
import mariadb from 'mariadb';
import mysql2 from 'mysql2/promise';
import { mysql } from 'holdfast/mysql';
const pool = mysql2.createPool(url);
await turns('mysql2', mysql(pool));
await pool.end();
const second = mariadb.createPool(url.replace('mysql:', 'mariadb:'));
await turns('mariadb', mysql(second));
await second.end();
`;

export const nest = `
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { memory } from 'holdfast/memory';
import { Locks, LocksModule } from 'holdfast/nestjs';
import { OnceCron } from 'holdfast/nestjs/schedule';
const ticked = Promise.withResolvers();
class Reports {
  async nightly() {
    ticked.resolve();
  }
}
const place = Object.getOwnPropertyDescriptor(Reports.prototype, 'nightly');
OnceCron('* * * * * *', 'nightly')(Reports.prototype, 'nightly', place);
Object.defineProperty(Reports.prototype, 'nightly', place);
class App {}
Module({ imports: [ScheduleModule.forRoot(), LocksModule.forRoot({ backend: memory() })], providers: [Reports] })(App);
const app = await NestFactory.createApplicationContext(App, { logger: ['error'] });
const held = await app.get(Locks).mutex('order').run((lease) => lease.held);
await ticked.promise;
await app.close();
console.log(held ? 'held, ticked' : 'not held');
`;

export const otel = `
import { createLocks } from 'holdfast';
import { memory } from 'holdfast/memory';
import { instrument } from 'holdfast/otel';
const locks = createLocks(memory());
instrument(locks);
console.log(String(await locks.mutex('order').run((lease) => lease.token)));
await locks.close();
`;

export const cron = `
import { Cron } from 'croner';
import cron from 'node-cron';
import { createLocks } from 'holdfast';
import { cronerTask, nodeCronTask } from 'holdfast/cron';
import { memory } from 'holdfast/memory';
const locks = createLocks(memory());
const first = Promise.withResolvers();
const job = new Cron('* * * * * *', cronerTask(locks, 'first', (run) => first.resolve(run.token)));
await first.promise;
job.stop();
const second = Promise.withResolvers();
const task = cron.schedule('* * * * * *', nodeCronTask(locks, 'second', (run) => second.resolve(run.token)));
await second.promise;
await task.stop();
await locks.close();
console.log('croner, node-cron');
process.exit();
`;
