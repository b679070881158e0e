import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LocksModule } from '../../src/nestjs/index.ts';
import { Orders, OrdersController } from './orders.ts';

@Module({
  imports: [LocksModule.forRoot({ url: process.env.HOLDFAST_URL ?? 'memory:' })],
  providers: [Orders],
  controllers: [OrdersController],
})
class App {}

const app = await NestFactory.create(App, { logger: ['error'] });
app.enableShutdownHooks();
await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
console.log(`listening on ${await app.getUrl()}`);
