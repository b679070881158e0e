import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import { OrdersService } from './orders.service';

async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.init();
  const orders = app.get(OrdersService);
  const grabs = [1, 2, 3].map(() => orders.grab(42));
  const busy = orders.isBusy(42);
  console.log(JSON.stringify({ grabs: await Promise.all(grabs), busy: await busy }));
  await app.close();
}
bootstrap();
